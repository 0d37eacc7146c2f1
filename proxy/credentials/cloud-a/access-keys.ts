// The keys that sign requests for AWS.

/** `secretAccessKey` and `sessionToken` are secrets. Plain data, so that workers can share it. */
export interface AccessKeys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Only of temporary keys. */
  readonly sessionToken?: string
}
