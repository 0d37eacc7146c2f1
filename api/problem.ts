// How every stage reports what is wrong with user input: as data, with a path, never by throwing.

/** RFC 6901-like path with dots and indexes, as the API server prints it: `spec.traffic.cors.allowOrigins[0]`. */
export type FieldPath = string

/** The reason of a defect of the controller, not of the object. */
export const INTERNAL_ERROR = 'InternalError'

export interface Problem {
  readonly path: FieldPath
  /** Machine-readable, e.g. a status reason. */
  readonly reason: string
  /** What is wrong and what to do. */
  readonly message: string
  readonly severity: 'error' | 'warning'
  /** Of an unknown field: the name that was probably meant. */
  readonly meant?: string
}
