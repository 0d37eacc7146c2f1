// frontend.tcp: keepalive probes on connections of clients.
import type { FrontendPayload } from '#api/ir/types.gen.ts'
import type { FrontendTCP } from '#api/v1alpha1/gwpolicy.gen.ts'
import type { FieldTranslator } from './field.ts'
import { renderKeepalive } from './keepalive.ts'

export const frontendTcp: FieldTranslator<FrontendTCP, FrontendPayload> = {
  failureMode: 'skip',
  translate: ({ keepalive }) => [
    { suffix: 'frontend-tcp', payload: { tcp: { keepalive: renderKeepalive(keepalive) } } },
  ],
}
