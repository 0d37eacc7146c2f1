// Names as users wrote them. An inline backend of a standalone file has a key with its position in the file; names that
// users write have no slash. Pure.

const INLINE = /^(?:.*\/)?([^/]+)\/backend(\d+)(\/[^/]+)?$/
const MCP_SECTION = 'mcp:default'

/**
 * Name of a backend: `inline/backend0` is the first backend of the route `inline`, `inline/backend0/a` its MCP server
 * `a`. `section`: an MCP server of it.
 */
export function givenName(name: string, section?: string): string {
  const inline = INLINE.exec(name)
  const own =
    name === MCP_SECTION
      ? 'mcp'
      : inline === null
        ? name
        : `${inline[1] ?? ''}/backend${inline[2] ?? ''}${inline[3] ?? ''}`
  return section === undefined || section === '' ? own : `${own}/${section}`
}

/** Name of a reference to a backend: its key, which begins with a slash if a standalone file defines it. */
export function givenReference(key: string): string {
  return key.startsWith('/') ? givenName(key.slice(1)) : key
}
