// gRPC status codes and the error of a call. Texts of peers are truncated: they appear in logs, never in responses.

/** https://grpc.io/docs/guides/status-codes; only those that the proxy sends or reads. */
export const GrpcStatus = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  DEADLINE_EXCEEDED: 4,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const

const DETAIL_LENGTH_MAX = 512

/** Every failure of a call. `status` is from the peer, or represents a transport failure. */
export class GrpcError extends Error {
  readonly status: number
  /** `grpc-status-details-bin` as received: base64 of a google.rpc.Status. */
  readonly statusDetails: string | undefined

  constructor(status: number, detail: string, statusDetails?: string) {
    super(detail.length > DETAIL_LENGTH_MAX ? `${detail.slice(0, DETAIL_LENGTH_MAX)}…` : detail)
    this.status = status
    this.statusDetails = statusDetails
  }
}

/** The peer received nothing of the call. */
export class GrpcUnreached extends GrpcError {}

const BY_HTTP_STATUS = new Map<number, number>([
  [400, GrpcStatus.INTERNAL],
  [401, GrpcStatus.UNAUTHENTICATED],
  [403, GrpcStatus.PERMISSION_DENIED],
  [404, GrpcStatus.UNIMPLEMENTED],
  [429, GrpcStatus.UNAVAILABLE],
  [502, GrpcStatus.UNAVAILABLE],
  [503, GrpcStatus.UNAVAILABLE],
  [504, GrpcStatus.UNAVAILABLE],
])

/**
 * For responses without gRPC, such as those of a load balancer (gRPC over HTTP/2, "HTTP to gRPC status code mapping").
 */
export function statusOfHttp(status: number): number {
  return BY_HTTP_STATUS.get(status) ?? GrpcStatus.UNKNOWN
}

/** Parses `grpc-status`; undefined if it is missing or not a number. */
export function statusOfField(field: unknown): number | undefined {
  return typeof field === 'string' && /^\d{1,3}$/.test(field) ? Number(field) : undefined
}

/** Parses `grpc-message`: percent-encoded UTF-8; invalid encodings are unchanged. */
export function messageOfField(field: unknown): string {
  if (typeof field !== 'string') return ''
  try {
    return decodeURIComponent(field)
  } catch {
    return field
  }
}
