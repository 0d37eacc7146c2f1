// The protocol versions of MCP in two eras: those with sessions, and the one whose requests stand alone.

export type Era = 'Legacy' | 'Modern'

/** Opened with `initialize`, oldest first. */
export const LEGACY_VERSIONS: readonly string[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
export const LEGACY_VERSION = '2025-11-25'
/** Version and client are in each request. */
export const MODERN_VERSION = '2026-07-28'
export const SUPPORTED_VERSIONS: readonly string[] = [...LEGACY_VERSIONS, MODERN_VERSION]

/** Of JSON-RPC errors (MCP 2026-07-28). */
export const HEADER_MISMATCH = -32_020
export const MISSING_CAPABILITY = -32_021
export const UNSUPPORTED_VERSION = -32_022
