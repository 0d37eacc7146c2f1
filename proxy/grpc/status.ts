// gRPC status codes and the one error of a call. Texts of peers are cut: they end up in logs, never with clients.

/** https://grpc.io/docs/guides/status-codes; only those the proxy gives or looks at. */
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

/** Every way a call can end other than well. `status` is the peer's own, or what stands for a failure on the way. */
export class GrpcError extends Error {
  readonly status: number
  /** `grpc-status-details-bin` as it came: base64 of a google.rpc.Status. */
  readonly statusDetails: string | undefined

  constructor(status: number, detail: string, statusDetails?: string) {
    super(detail.length > DETAIL_LENGTH_MAX ? `${detail.slice(0, DETAIL_LENGTH_MAX)}…` : detail)
    this.status = status
    this.statusDetails = statusDetails
  }
}

/** The peer got nothing of the call. */
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
 * For answers that are not gRPC, as those of a load balancer (gRPC over HTTP/2, "HTTP to gRPC status code mapping").
 */
export function statusOfHttp(status: number): number {
  return BY_HTTP_STATUS.get(status) ?? GrpcStatus.UNKNOWN
}

/** Of `grpc-status`; undefined when it is missing or no number. */
export function statusOfField(field: unknown): number | undefined {
  return typeof field === 'string' && /^\d{1,3}$/.test(field) ? Number(field) : undefined
}

/** Of `grpc-message`: percent-encoded UTF-8; what does not decode stays as it is. */
export function messageOfField(field: unknown): string {
  if (typeof field !== 'string') return ''
  try {
    return decodeURIComponent(field)
  } catch {
    return field
  }
}
