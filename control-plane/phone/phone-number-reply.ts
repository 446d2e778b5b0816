import { toIso } from '../../shared/time.ts';
import type { PhoneNumber } from './phone-number-schema.ts';
import type { PhoneNumberDoc } from './phone-number-store.ts';

/** A number as callers read it: passwords become `has_…`. */
export function toPhoneNumber(number: PhoneNumberDoc): PhoneNumber {
  const { trunk } = number;
  return {
    phone_number_id: number._id,
    workspace_id: number.workspaceId,
    phone_number: number.phoneNumber,
    provider: number.provider,
    label: number.label,
    agent_id: number.agentId,
    status: number.status,
    status_detail: number.statusDetail,
    supports_outbound: number.status === 'active' && (trunk === null || trunk.terminationUri !== null),
    inbound_auth_username: trunk?.inboundUsername ?? null,
    has_inbound_auth_password: (trunk?.inboundPassword ?? null) !== null,
    inbound_allowed_addresses: [...(trunk?.allowedAddresses ?? [])],
    termination_uri: trunk?.terminationUri ?? null,
    termination_transport: trunk?.transport ?? null,
    termination_auth_username: trunk?.terminationUsername ?? null,
    has_termination_auth_password: (trunk?.terminationPassword ?? null) !== null,
    termination_headers: { ...trunk?.headers },
    cold_transfer_use_original_caller: number.usesOriginalCaller,
    // Calls are not transferred yet.
    cold_transfer_use_original_caller_effective: false,
    caller_id_sync_status: 'carrier_managed',
    caller_id_sync_error: null,
    created_at: toIso(number.createdAtMs),
    updated_at: toIso(number.updatedAtMs),
  };
}
