// The answers of several servers to `initialize`, merged into one (data-plane supplement section 4.4).
import { GATEWAY } from '../envelope.ts'
import {
  type Introduction,
  mergeCapabilities,
  mergeExtensions,
  mergeInstructions,
  mergeTasks,
} from '../introduction.ts'
import { LEGACY_VERSION, LEGACY_VERSIONS } from '../versions.ts'

/** Lowest protocol version that the gateway has, union of what can be multiplexed. */
export function mergeInitialize(
  introductions: readonly Introduction[],
  options: { askedVersion: string; isStateful: boolean },
): { readonly [key: string]: unknown } {
  const tasks = mergeTasks(introductions)
  const versions = new Set([options.askedVersion, ...introductions.map(({ result }) => result['protocolVersion'])])
  return {
    protocolVersion: LEGACY_VERSIONS.find((version) => versions.has(version)) ?? LEGACY_VERSION,
    capabilities: {
      ...mergeCapabilities(introductions, options.isStateful),
      ...mergeExtensions(introductions),
      // A task lives in the session with its server.
      ...(options.isStateful && tasks && { tasks }),
    },
    serverInfo: GATEWAY,
    instructions: mergeInstructions(introductions),
  }
}
