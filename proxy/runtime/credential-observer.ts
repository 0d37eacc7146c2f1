// Fetches of credentials of one worker: metrics, a log line with the cause of a failure, and a message to the main
// thread for the dump of the configuration.
import type { CredentialMessage, TokenFetch, TokenObserver } from '../credentials/token-observer.ts'
import type { TokenError } from '../credentials/token.ts'
import { redactText } from '../message/redact.ts'
import type { Logger } from '../log/logger.ts'
import type { Recorder } from '../metrics/recorder.ts'
import { Sparing } from './sparing.ts'

export interface CredentialObserverParts {
  readonly recorder: Recorder
  readonly logger: Logger
  readonly send: (message: CredentialMessage) => void
}

const RESULTS: Readonly<Record<TokenError['reason'], string>> = {
  Rejected: 'rejected',
  SubjectRejected: 'rejected',
  Unavailable: 'unavailable',
}

export function credentialObserver({ recorder, logger, send }: CredentialObserverParts): TokenObserver {
  const sparing = new Sparing()
  return {
    fetched(fetch) {
      const { name, durationMs, outcome } = fetch
      const result = 'reason' in outcome ? RESULTS[outcome.reason] : 'fetched'
      recorder.credentialFetched(name.kind, result, durationMs / 1000)
      send({ type: 'credentialFetched', fetch })
      if ('reason' in outcome) log(fetch, outcome)
    },
    refused(refusal) {
      recorder.credentialRefused(refusal.name.kind)
      send({ type: 'credentialRefused', refusal })
    },
  }

  function log(
    { name, usedBy, durationMs }: TokenFetch,
    { reason, message }: { reason: string; message: string },
  ): void {
    if (!sparing.isDue()) return
    const notLogged = sparing.leftOut()
    logger.warn('failed to fetch a credential', {
      kind: name.kind,
      owner: name.owner,
      ...(usedBy !== undefined && { used_by: usedBy }),
      reason,
      error: redactText(message),
      took_ms: Math.round(durationMs),
      ...(notLogged > 0 && { 'not.logged': notLogged }),
    })
  }
}
