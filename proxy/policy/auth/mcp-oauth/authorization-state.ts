// What the gateway remembers of an authorization request while the user is at the identity provider: it is sealed in
// the `state` of the request, so that any replica can finish the sign-in.
import { jsonSealer } from '../../../auth/json-sealer.ts'

export interface AuthorizationState {
  /** The gateway as the authorization server of this MCP server. */
  readonly issuer: string
  readonly redirectUri: string
  /** Of the client. */
  readonly state: string | undefined
}

export interface StateCodec {
  encode(state: AuthorizationState): string
  /** undefined: not sealed by the gateway for this issuer, changed, or too old. */
  decode(text: string, issuer: string): AuthorizationState | undefined
}

/** A user signs in within this time. */
export const STATE_MS_MAX = 15 * 60 * 1000
/** First byte; MCP session ids have another one. */
const KIND = 3
const CHARACTERS_MAX = 8192

/** `now`: milliseconds since the epoch. */
export function stateCodec(keys: readonly Uint8Array[], now: () => number = Date.now): StateCodec {
  const sealer = jsonSealer({ kind: KIND, keys, charactersMax: CHARACTERS_MAX })
  return {
    encode({ issuer, redirectUri, state }) {
      return sealer.seal({ i: issuer, r: redirectUri, s: state, x: now() + STATE_MS_MAX })
    },
    decode(text, issuer) {
      const wire = sealer.open(text)
      if (wire === undefined || wire === 'UnknownKey' || wire['i'] !== issuer) return undefined
      const { r: redirectUri, s: state, x: untilMs } = wire
      if (typeof redirectUri !== 'string' || typeof untilMs !== 'number' || now() >= untilMs) return undefined
      return { issuer, redirectUri, state: typeof state === 'string' ? state : undefined }
    },
  }
}
