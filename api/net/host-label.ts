// Labels of host names.

const HOST_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** One label of a host name, in lower case (RFC 1123 section 2.1). */
export function isHostLabel(text: string): boolean {
  return HOST_LABEL.test(text)
}
