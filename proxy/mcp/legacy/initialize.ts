// The answers of several servers to `initialize`, merged into one (data-plane supplement section 4.4).
import { GATEWAY } from '../envelope.ts'
import {
  type Introduction,
  mergeCapabilities,
  mergeExtensions,
  mergeInstructions,
  mergeTasks,
} from '../introduction.ts'

/** Lowest protocol version, union of what can be multiplexed. */
export function mergeInitialize(
  introductions: readonly Introduction[],
  options: { askedVersion: string; isStateful: boolean },
): { readonly [key: string]: unknown } {
  const tasks = mergeTasks(introductions)
  const versions = introductions
    .map(({ result }) => result['protocolVersion'])
    .filter((version) => typeof version === 'string')
  return {
    protocolVersion: [options.askedVersion, ...versions].sort()[0],
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
