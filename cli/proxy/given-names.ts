// Names as users gave them. What stands inline in a standalone file has a key of the file's places; no name of a user
// has a slash in it. Pure.

const INLINE = /^(?:.*\/)?([^/]+)\/backend(\d+)$/
const MCP_SECTION = 'mcp:default'

/** Of a backend: `inline/backend0` is the first backend of the route `inline`. `section`: one of its MCP servers. */
export function givenName(name: string, section?: string): string {
  const inline = INLINE.exec(name)
  const own = name === MCP_SECTION ? 'mcp' : inline === null ? name : `${inline[1] ?? ''}/backend${inline[2] ?? ''}`
  return section === undefined || section === '' ? own : `${own}/${section}`
}

/** Of a reference to a backend: its key, which begins with a slash where it is one of a file. */
export function givenReference(key: string): string {
  return key.startsWith('/') ? givenName(key.slice(1)) : key
}
