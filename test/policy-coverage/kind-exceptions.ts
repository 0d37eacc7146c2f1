// The tests that a field of a kind need not have, and why. An exception that is no longer needed fails the test: remove
// it.
import type { Exception } from './exceptions.ts'

/** Reported in a status, or without a meaning for a gateway; see the pages. */
const NOT_SERVED: readonly Exception[] = [
  {
    settings: /Route\.rules\[\]\.(backendRefs\[\]\.)?filters\[\]\.extensionRef\./,
    because: 'Gw has no extension filters: the route is rejected (docs/translation.md)',
  },
  {
    settings: /Route\.rules\[\]\.sessionPersistence\./,
    because: 'not supported, reported in the status (docs/http2.md)',
  },
  {
    settings: /^HTTPRoute\.rules\[\]\.backendRefs\[\]\.filters\[\]\.cors\./,
    because: 'CORS runs before a backend is selected: the route is rejected (docs/translation.md)',
  },
  {
    settings: /^GwBackend\.ai\.(provider|groups\[\]\.providers\[\])\.p[23567]\./,
    because: 'providers that are not supported, reported in the status (docs/models.md)',
  },
  {
    settings: /\.(useDefaultGateways|defaultScope)$/,
    because: 'default Gateways are an experimental feature that is not supported (docs/translation.md)',
  },
  { settings: /^BackendTLSPolicy\.options\{\}$/, because: 'Gw defines no options (docs/translation.md)' },
]

export const WITHOUT_GOLDEN: readonly Exception[] = [
  ...NOT_SERVED,
  { settings: /^GatewayClass\.description$/, because: 'a text for people' },
  {
    settings: /^BackendTLSPolicy\.validation\.subjectAltNames\[\]\.type$/,
    because: 'the schema requires the value of its kind beside it, and goldens have both',
  },
]

export const WITHOUT_CASE: readonly Exception[] = [
  ...NOT_SERVED,
  {
    settings: /^GwBackend\.cloudService\./,
    because: 'the host is that of the vendor: proxy/backend/agent-core.test.ts leads it to an emulator',
  },
  {
    settings: /^GwParameters\./,
    because: 'not part of the configuration of a proxy: goldens of the deployer, test/e2e',
  },
  { settings: /^(GatewayClass\.|Gateway\.(addresses|infrastructure))/, because: 'goldens of the deployer too' },
]

/** Values of enumerations that no end-to-end case has to use. */
export const VALUES_WITHOUT_CASE: readonly Exception[] = [
  { settings: /\.cors\.allowMethods\[\]=/, because: 'names that are forwarded unchanged' },
  {
    settings: /Route\.rules\[\]\.(backendRefs\[\]\.)?filters\[\]\.type=ExtensionRef$/,
    because: 'Gw has no extension filters: the route is rejected (docs/translation.md)',
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
