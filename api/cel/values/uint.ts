// The unsigned integer of CEL. Signed ones are plain bigints.

export const UINT_MAX = 18_446_744_073_709_551_615n

export class CelUint {
  readonly value: bigint

  constructor(value: bigint) {
    this.value = value
  }
}
