import { type AnyRoute, route } from '../http/route.ts';
import { ApiCredit, ApiCreditQuery, WalletPackage, WalletPath } from './wallet-schema.ts';
import type { WalletService } from './wallet-service.ts';

/** The endpoints of the wallet; `self` stands for the caller. */
export function walletRoutes(wallet: WalletService): AnyRoute[] {
  return [
    route({
      method: 'GET',
      path: '/wallet/{user_id}/package',
      access: 'api_key',
      summary: 'Read the plan balance',
      tag: 'wallet',
      params: WalletPath,
      reply: { status: 200, schema: WalletPackage },
      handle: ({ params, caller }) => wallet.getPackage(params.user_id, caller),
    }),
    route({
      method: 'GET',
      path: '/wallet/{user_id}/api-credit',
      access: 'api_key',
      summary: 'Read the API credit',
      tag: 'wallet',
      params: WalletPath,
      query: ApiCreditQuery,
      reply: { status: 200, schema: ApiCredit },
      handle: ({ params, query, caller }) => wallet.getApiCredit(params.user_id, query, caller),
    }),
  ];
}
