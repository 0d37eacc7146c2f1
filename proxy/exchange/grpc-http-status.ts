// What a gRPC client is told in place of an HTTP status.

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

/** UNKNOWN where nothing fits better. */
export function grpcStatusOf(httpStatus: number): number {
  return GRPC_STATUS.get(httpStatus) ?? GRPC_UNKNOWN
}
