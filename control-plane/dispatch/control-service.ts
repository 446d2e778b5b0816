import { Metadata, type ServiceError, type sendUnaryData, status } from '@grpc/grpc-js';
import { Failure, type FailureKind } from '../../shared/errors.ts';
import type {
  AuthenticateKeyResponse,
  ControlServiceServer,
  ResolveVoiceRequest,
  SpeechUsage,
} from '../../shared/generated/parley/v1/control.ts';
import type { Logger } from '../../shared/log.ts';

/** Whose API key it is. */
export interface KeyOwner {
  readonly workspaceId: string;
  readonly userId: string;
  readonly keyId: string;
}

/** A voice as the worker's speech router takes it. */
export interface ResolvedVoice {
  /** Empty: the default voice of the language. */
  readonly voice: string;
  /** ISO 639-1. */
  readonly language: string;
}

/** What speech requests on workers need of the records. */
export interface SpeechRecords {
  readonly isOutOfCredit: (workspaceId: string) => Promise<boolean>;
  /** Null for a voice that doesn't exist for the workspace. */
  readonly resolveVoice: (voiceId: string, workspaceId: string) => Promise<ResolvedVoice | null>;
  /** Resolves when all of it is settled; the same usage may come again. */
  readonly settleUsage: (usage: readonly SpeechUsage[]) => Promise<void>;
}

export interface ControlServiceDeps {
  /** Throws `Failure` `invalid_token` for a key that isn't good. */
  readonly authenticate: (apiKey: string) => Promise<KeyOwner>;
  /** Without it nobody is out of credit, no voice is found and no usage taken. */
  readonly speech?: SpeechRecords;
  readonly log: Logger;
}

const STATUS_OF: Partial<Record<FailureKind, status>> = {
  bad_request: status.INVALID_ARGUMENT,
  unprocessable: status.INVALID_ARGUMENT,
  invalid_token: status.UNAUTHENTICATED,
  forbidden: status.PERMISSION_DENIED,
  not_found: status.NOT_FOUND,
  conflict: status.FAILED_PRECONDITION,
  rate_limited: status.RESOURCE_EXHAUSTED,
  unavailable: status.UNAVAILABLE,
};

/** The questions that workers ask one by one. */
export function createControlService(deps: ControlServiceDeps): ControlServiceServer {
  /** Answers what `work` resolves with, or the service error of what it throws. */
  function answer<T>(what: string, work: Promise<T>, callback: sendUnaryData<T>): void {
    work.then(
      (value) => callback(null, value),
      (error: unknown) => {
        if (!(error instanceof Failure))
          deps.log.error({ err: error, what }, 'question of a worker not answered');
        callback(toServiceError(error));
      },
    );
  }

  async function authenticateKey(apiKey: string): Promise<AuthenticateKeyResponse> {
    const { workspaceId, userId, keyId } = await deps.authenticate(apiKey);
    const isOutOfCredit = (await deps.speech?.isOutOfCredit(workspaceId)) ?? false;
    return { workspaceId, userId, keyId, isOutOfCredit };
  }

  async function resolveVoice({ voiceId, workspaceId }: ResolveVoiceRequest): Promise<ResolvedVoice> {
    const voice = await deps.speech?.resolveVoice(voiceId, workspaceId);
    if (!voice) throw new Failure('not_found', 'Reference not found');
    return voice;
  }

  async function reportUsage(usage: readonly SpeechUsage[]): Promise<Record<string, never>> {
    if (!deps.speech) throw new Failure('unavailable', 'Usage is not settled here');
    await deps.speech.settleUsage(usage);
    return {};
  }

  return {
    authenticateKey: (call, callback) => answer('key', authenticateKey(call.request.apiKey), callback),
    resolveVoice: (call, callback) => answer('voice', resolveVoice(call.request), callback),
    reportUsage: (call, callback) => answer('usage', reportUsage(call.request.usage), callback),
  };
}

/** A `Failure` keeps its message; anything else says nothing. */
function toServiceError(
  error: unknown,
): Pick<ServiceError, 'code' | 'details' | 'metadata' | 'name' | 'message'> {
  const details = error instanceof Failure ? error.message : 'Internal error';
  const code = error instanceof Failure ? (STATUS_OF[error.kind] ?? status.UNAVAILABLE) : status.INTERNAL;
  return { name: 'ServiceError', message: details, details, code, metadata: new Metadata() };
}
