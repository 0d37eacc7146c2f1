// frontend.tls: handshakes of TLS listeners. Names the proxy does not know are its own to report: its OpenSSL decides.
import type { FrontendPayload, FrontendTLS as RenderedTLS } from '#api/ir/types.gen.ts'
import type { FrontendTLS } from '#api/v1alpha1/gwpolicy.gen.ts'
import { durationMs } from '../duration.ts'
import { denyBroken, type FieldTranslator } from './field.ts'

const SUFFIX = 'frontend-tls'

export const frontendTls: FieldTranslator<FrontendTLS, FrontendPayload> = {
  failureMode: 'deny',
  translate: (value, context) => {
    if (value.minProtocolVersion === '1.3' && value.maxProtocolVersion === '1.2') {
      const message = 'minProtocolVersion is above maxProtocolVersion; no client could connect'
      return [denyBroken(context, SUFFIX, { path: `${context.path}.minProtocolVersion`, reason: 'Invalid', message })]
    }
    const tls = render(value)
    return Object.keys(tls).length === 0 ? [] : [{ suffix: SUFFIX, payload: { tls } }]
  },
}

function render(value: FrontendTLS): RenderedTLS {
  const { alpnProtocols, minProtocolVersion, maxProtocolVersion, cipherSuites, keyExchangeGroups } = value
  const handshakeTimeoutMs = value.handshakeTimeout === undefined ? undefined : durationMs(value.handshakeTimeout)
  return {
    ...(handshakeTimeoutMs && { handshakeTimeoutMs }),
    ...(alpnProtocols !== undefined && { alpnProtocols: [...alpnProtocols] }),
    ...(minProtocolVersion !== undefined && { minProtocolVersion }),
    ...(maxProtocolVersion !== undefined && { maxProtocolVersion }),
    ...(cipherSuites !== undefined && { cipherSuites: [...cipherSuites] }),
    ...(keyExchangeGroups !== undefined && { keyExchangeGroups: [...keyExchangeGroups] }),
  }
}
