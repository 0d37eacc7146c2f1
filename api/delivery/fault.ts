// Why a delivery is not applied. Types only.

export type ReadFile = (name: string) => Uint8Array | undefined

export interface MissingFile {
  /** Any of these will do. */
  readonly names: readonly string[]
  readonly part: 'config' | 'endpoints' | 'secrets'
  /** Which object of the part has it. */
  readonly shard: number
}

export interface DeliveryFault {
  /**
   * Incomplete: objects of two generations are mixed, or some are not there yet; another try will succeed. The others
   * stay until the next delivery.
   */
  readonly reason: 'Incomplete' | 'Corrupt' | 'Unsupported' | 'Invalid'
  readonly message: string
  /** What to look for, when Incomplete. */
  readonly missing: readonly MissingFile[]
}
