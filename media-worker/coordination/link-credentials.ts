import { type ChannelCredentials, type ChannelOptions, credentials } from '@grpc/grpc-js';

/** PEM texts. With them both sides prove who they are; without them the link is plain and belongs on loopback. */
export interface LinkCertificates {
  /** Authority that has signed the other side's certificate. */
  readonly caPem: string;
  readonly certPem: string;
  readonly keyPem: string;
}

/** One control-plane replica. */
export interface ControlAddress {
  /** `host:port`, IPv6 in brackets. */
  readonly target: string;
  /** Name in the replica's certificate, when `target` is an address that a name resolved to. */
  readonly serverName: string | null;
}

/** A session's spec carries knowledge text inline. */
const MAX_RECEIVED_BYTES = 32 * 1024 * 1024;

export function linkCredentials(certificates: LinkCertificates | null): ChannelCredentials {
  if (!certificates) return credentials.createInsecure();
  const { caPem, keyPem, certPem } = certificates;
  return credentials.createSsl(Buffer.from(caPem), Buffer.from(keyPem), Buffer.from(certPem));
}

/** A peer that hangs is noticed after 3 s: a ping every 2 s, answered within 1 s. */
export function channelOptions(address: ControlAddress): ChannelOptions {
  return {
    'grpc.keepalive_time_ms': 2_000,
    'grpc.keepalive_timeout_ms': 1_000,
    'grpc.keepalive_permit_without_calls': 1,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 1_000,
    'grpc.max_receive_message_length': MAX_RECEIVED_BYTES,
    'grpc.use_local_subchannel_pool': 1,
    'grpc.enable_retries': 0,
    // The link is internal; a proxy named in the environment is for the outside.
    'grpc.enable_http_proxy': 0,
    ...(address.serverName === null
      ? {}
      : {
          'grpc.ssl_target_name_override': address.serverName,
          'grpc.default_authority': address.serverName,
        }),
  };
}
