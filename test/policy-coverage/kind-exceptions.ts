// What a field of a kind may lack, and why. An exception that is no longer needed fails the test: it is to be removed.
import type { Exception } from './exceptions.ts'

/** Told in a status, or without a meaning for a gateway; the pages named say so. */
const NOT_SERVED: readonly Exception[] = [
  {
    settings: /Route\.rules\[\]\.(backendRefs\[\]\.)?filters\[\]\.extensionRef\./,
    because: 'there are no filters of our own: the route is refused (docs/translation.md)',
  },
  { settings: /Route\.rules\[\]\.sessionPersistence\./, because: 'not run, and the status says so (docs/http2.md)' },
  {
    settings: /^HTTPRoute\.rules\[\]\.backendRefs\[\]\.filters\[\]\.cors\./,
    because: 'CORS is decided before a backend is chosen: the route is refused (docs/translation.md)',
  },
  {
    settings: /^GwBackend\.ai\.(provider|groups\[\]\.providers\[\])\.p[23567]\./,
    because: 'providers that this version does not speak to: the status says so (docs/models.md)',
  },
  { settings: /^GwBackend\.cloudService\./, because: 'not run, and the status says so (docs/translation.md)' },
  {
    settings: /\.(useDefaultGateways|defaultScope)$/,
    because: 'default Gateways are an experiment of the Gateway API that is not served (docs/translation.md)',
  },
  { settings: /^BackendTLSPolicy\.options\{\}$/, because: 'there are none of ours (docs/translation.md)' },
]

export const WITHOUT_GOLDEN: readonly Exception[] = [
  ...NOT_SERVED,
  { settings: /^GatewayClass\.description$/, because: 'a text for people' },
  {
    settings: /^BackendTLSPolicy\.validation\.subjectAltNames\[\]\.type$/,
    because: 'the schema wants the value of its kind beside it, and goldens have both',
  },
]

export const WITHOUT_CASE: readonly Exception[] = [
  ...NOT_SERVED,
  { settings: /^GwParameters\./, because: 'no part of what a proxy serves: goldens of the deployer, test/e2e' },
  { settings: /^(GatewayClass\.|Gateway\.(addresses|infrastructure))/, because: 'likewise of the deployer' },
]
