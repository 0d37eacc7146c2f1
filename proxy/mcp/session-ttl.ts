// The time after which a session that no client uses ends at its servers (data-plane supplement section 4.3).

export const MCP_SESSION_TTL_MS = 30 * 60_000
/** For settings of users. */
export const MCP_SESSION_TTL_MS_MIN = 1000
