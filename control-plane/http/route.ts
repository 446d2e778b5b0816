import type { Static, TSchema } from 'typebox';
import type { FailureKind } from '../../shared/errors.ts';
import type { MultipartRule } from './multipart-body.ts';

/** Who sent an authenticated request. */
export interface KeyCaller {
  readonly kind: 'api_key';
  readonly workspaceId: string;
  readonly userId: string;
  readonly keyId: string;
  readonly hasBetaAccess: boolean;
}

/** A request without credentials, on a route that takes them. */
export interface AnonymousCaller {
  readonly kind: 'anonymous';
  readonly origin: string | null;
  readonly clientIp: string;
}

export type Caller = KeyCaller | AnonymousCaller;

/** `api_key`: bearer needed. `api_key_or_public`: without a header the caller is anonymous. `open`: nobody is asked. */
export type Access = 'api_key' | 'api_key_or_public' | 'open';

interface CallerOf {
  readonly api_key: KeyCaller;
  readonly api_key_or_public: Caller;
  readonly open: null;
}

type TypeOf<S> = S extends TSchema ? Static<S> : undefined;

/** What a handler gets. It is a plain function of this: no framework context. */
export interface RouteInput<A extends Access, B, Q, P> {
  readonly body: TypeOf<B>;
  readonly query: TypeOf<Q>;
  readonly params: TypeOf<P>;
  readonly caller: CallerOf[A];
  readonly requestId: string;
  /** W3C traceparent of this request: the caller's trace continued, or a new one. */
  readonly traceparent: string;
  /** Lower-case names. */
  readonly header: (name: string) => string | null;
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
}

/** What only the API description needs to know of a route. */
export interface RouteNotes {
  /** Markdown, for what the summary leaves open. */
  readonly description?: string;
  /** Refusals of the handler's own; those that every route of its sort has (401, 404, 415, 422 …) are known. */
  readonly refusals?: readonly FailureKind[];
  /** Refusals of the handler's own carry a `reason`, and its 422 may be an error body instead of a list. */
  readonly hasReasons?: boolean;
  /** Request headers that the handler reads, by name. */
  readonly requestHeaders?: Readonly<Record<string, TSchema>>;
}

export interface RouteSpec<A extends Access, B, Q, P, R> extends RouteNotes {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `{name}` placeholders, as the interface writes paths. */
  readonly path: string;
  readonly access: A;
  readonly summary: string;
  readonly tag: string;
  readonly body?: B;
  /** True: an absent body (and Content-Type) stands for `{}`. */
  readonly isBodyOptional?: boolean;
  /** The body is `multipart/form-data`; its files stand in `body` as `UploadedFile`. Else it is JSON. */
  readonly multipart?: MultipartRule;
  /** Longest time the handler may take; 30 s unless given. */
  readonly deadlineMs?: number;
  readonly query?: Q;
  readonly params?: P;
  /** Answers browsers of any origin (no cookies are ever used). */
  readonly isCrossOrigin?: boolean;
  readonly reply: { readonly status: 200 | 201 | 202 | 204; readonly schema?: R };
  readonly handle: (input: RouteInput<A, B, Q, P>) => Promise<TypeOf<R>>;
}

/** A route whose types have been checked and can be forgotten. */
export interface AnyRoute extends RouteNotes {
  readonly method: RouteSpec<Access, undefined, undefined, undefined, undefined>['method'];
  readonly path: string;
  readonly access: Access;
  readonly summary: string;
  readonly tag: string;
  readonly body?: TSchema;
  readonly isBodyOptional?: boolean;
  readonly multipart?: MultipartRule;
  readonly deadlineMs?: number;
  readonly query?: TSchema;
  readonly params?: TSchema;
  readonly isCrossOrigin?: boolean;
  readonly reply: { readonly status: 200 | 201 | 202 | 204; readonly schema?: TSchema };
  readonly handle: (input: RouteInput<Access, TSchema, TSchema, TSchema>) => Promise<unknown>;
}

/**
 * Declares an endpoint: method, path, who may call, what goes in, what comes out. `bind-routes` validates body,
 * query and path by these schemas (and the reply, in tests and development) and the API description is made from them.
 */
export function route<
  A extends Access,
  B extends TSchema | undefined = undefined,
  Q extends TSchema | undefined = undefined,
  P extends TSchema | undefined = undefined,
  R extends TSchema | undefined = undefined,
>(spec: RouteSpec<A, B, Q, P, R>): AnyRoute {
  // The validators prove at run time what the handler's types say; this is one of the two places that cross them.
  return spec as unknown as AnyRoute;
}
