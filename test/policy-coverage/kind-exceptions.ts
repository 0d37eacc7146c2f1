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

/** Values of enumerations that no end-to-end case has to use. */
export const VALUES_WITHOUT_CASE: readonly Exception[] = [
  { settings: /\.cors\.allowMethods\[\]=/, because: 'names that are passed on as they are' },
  {
    settings: /Route\.rules\[\]\.(backendRefs\[\]\.)?filters\[\]\.type=ExtensionRef$/,
    because: 'there are no filters of our own: the route is refused (docs/translation.md)',
  },
  {
    settings: /^HTTPRoute\.rules\[\]\.matches\[\]\.method=CONNECT$/,
    because: 'served by its own setting, test/conformance/frontend-connect.ts; matched as any other name',
  },
  {
    settings: /\.custom\.formats\[\]\.type=Realtime$/,
    because: 'test/conformance has the other formats, proxy/llm each one',
  },
]
