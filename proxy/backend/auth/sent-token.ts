// The token of a source for one try of a request: reports it to the trace, and lets the try that follows a refusal of
// the backend have another one.
import { type Token, TokenError, type TokenSource, type TokenStore } from '../../credentials/token.ts'
import { GrpcStatus } from '../../grpc/status.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import type { SentCredential } from '../../exchange/slots.ts'

export interface SentToken<T> {
  readonly source: TokenSource<T>
  /** Whether an answer of the backend refuses it. Absent: one with status 401, or UNAUTHENTICATED of gRPC. */
  readonly isRefusedBy?: (answer: Parameters<SentCredential['renew']>[0]) => boolean
}

/**
 * A token at once when one is kept. Kinds take their tokens here only.
 *
 * @throws {TokenError} also by rejection
 */
export function tokenFor<T>(exchange: Exchange, tokens: TokenStore, sent: SentToken<T>): Token<T> | Promise<Token<T>> {
  const { source } = sent
  const token = tokens.get(source)
  if (!(token instanceof Promise)) return used(exchange, tokens, { ...sent, token, how: 'kept' })
  const startMs = performance.now()
  return token.then(
    (fetched) => used(exchange, tokens, { ...sent, token: fetched, how: `fetched in ${since(startMs)} ms` }),
    (error: unknown) => {
      const details = `${nameOf(source)}: none after ${since(startMs)} ms: ${reasonOf(error)}`
      exchange.trace?.write({ type: 'policyEvent', kind: KIND, details }, { severity: 'error', startMs })
      throw error
    },
  )
}

const KIND = 'credential'

function used<T>(
  exchange: Exchange,
  tokens: TokenStore,
  { source, token, how, isRefusedBy = isUnauthorized }: SentToken<T> & { token: Token<T>; how: string },
): Token<T> {
  const { trace } = exchange
  if (trace !== undefined) {
    const details = `${nameOf(source)}: ${how}, ends in ${Math.round((token.expiresMs - Date.now()) / 1000)} s`
    trace.write({ type: 'policyEvent', kind: KIND, details })
  }
  exchange.credential = {
    renew(answer) {
      if (!isRefusedBy(answer)) return false
      const isOther = tokens.invalidate(source, token)
      const next = isOther ? 'not used again' : 'kept, because it was fetched after another refusal a moment ago'
      const details = `${nameOf(source)}: refused by the backend with ${answer.status}; ${next}`
      trace?.write({ type: 'policyEvent', kind: KIND, details }, { severity: 'warn' })
      return isOther
    },
  }
  return token
}

/** A gRPC call that fails at once has its status in the header fields. */
function isUnauthorized({ status, headers }: Parameters<SentCredential['renew']>[0]): boolean {
  return status === 401 || headers.get('grpc-status') === String(GrpcStatus.UNAUTHENTICATED)
}

function nameOf({ name: { kind, owner } }: Pick<TokenSource<unknown>, 'name'>): string {
  return `${kind} ${owner}`
}

function since(startMs: number): number {
  return Math.round(performance.now() - startMs)
}

/** Other errors are defects, whose texts are not shown. */
function reasonOf(error: unknown): string {
  return error instanceof TokenError ? error.message : 'internal error'
}
