// The gRPC status that a gRPC client gets for an HTTP status.

/** gRPC status for an HTTP status (data-plane supplement section 1.9). */
const GRPC_STATUS = new Map([
  [200, 0],
  [400, 13],
  [401, 16],
  [403, 7],
  [404, 12],
  [407, 16],
  [429, 14],
  [502, 14],
  [503, 14],
  [504, 14],
])
const GRPC_UNKNOWN = 2

/** UNKNOWN for all other statuses. */
export function grpcStatusOf(httpStatus: number): number {
  return GRPC_STATUS.get(httpStatus) ?? GRPC_UNKNOWN
}
