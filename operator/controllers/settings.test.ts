import { describe, expect, it } from 'vitest'
import { DEFAULT_RESTRICTIONS } from '#deployer/restrictions/defaults.ts'
import { type Environment, resolveOperatorSettings } from './settings.ts'

function read(environment: Environment): ReturnType<typeof resolveOperatorSettings> {
  return resolveOperatorSettings(environment, 'host')
}

describe('resolveOperatorSettings', () => {
  it('has a default for everything', () => {
    expect(read({})).toMatchObject({
      settings: {
        controllerName: 'gw.dev/controller',
        className: 'gw',
        namespace: 'gw-system',
        identity: 'host',
        namespaceSelectors: [],
        isLeaderElectionEnabled: true,
        deploy: { dummyPort: 443, environment: {} },
        health: { port: 9093 },
        metrics: { port: 9092 },
        admin: { host: '127.0.0.1', port: 9095 },
      },
    })
  })

  it('reads what is set', () => {
    const outcome = read({
      POD_NAMESPACE: 'infra',
      GW_GATEWAY_CLASS_PARAMETERS_REFS: '{"gw":{"name":"p","namespace":"infra"}}',
      GW_DISCOVERY_NAMESPACE_SELECTORS: '[{"matchLabels":{"team":"a"}}]',
      GW_NO_LISTENERS_DUMMY_PORT: '0',
      GW_GATEWAY_ROUTE_RULES_MAX: '7',
      GW_LISTENER_BIND_IPV6: 'false',
      GW_DISABLE_LEADER_ELECTION: 'true',
    })
    if ('problems' in outcome) throw new Error(JSON.stringify(outcome.problems))
    const { settings } = outcome
    expect(settings.classParametersRefs.get('gw')).toEqual({
      group: 'gw.dev',
      kind: 'GwParameters',
      name: 'p',
      namespace: 'infra',
    })
    expect(settings.namespaceSelectors).toEqual([{ matchLabels: { team: 'a' } }])
    expect(settings.deploy.dummyPort).toBe(0)
    expect(settings.caps.routeRulesMax).toBe(7)
    expect(settings.deploy.environment).toEqual({ IPV6_ENABLED: 'false' })
    expect(settings.isLeaderElectionEnabled).toBe(false)
  })

  it('watches its own namespace with the given ones', () => {
    const watched = (environment: Record<string, string>): unknown => {
      const outcome = read(environment)
      return 'settings' in outcome ? outcome.settings.watchNamespaces : outcome.problems
    }
    expect(watched({})).toEqual([])
    expect(watched({ GW_WATCH_NAMESPACES: ' ,' })).toEqual([])
    expect(watched({ GW_WATCH_NAMESPACES: 'shop, blog', POD_NAMESPACE: 'own' })).toEqual(['own', 'shop', 'blog'])
    expect(watched({ GW_WATCH_NAMESPACES: 'own', POD_NAMESPACE: 'own' })).toEqual(['own'])
  })

  it('reads which fields of a deployment Gateways may set', () => {
    const restrictions = (environment: Record<string, string>): unknown => {
      const outcome = read(environment)
      return 'settings' in outcome ? outcome.settings.deploy.restrictions : outcome.problems
    }
    expect(restrictions({})).toEqual(DEFAULT_RESTRICTIONS)
    expect(
      restrictions({
        GW_GATEWAY_PARAMETERS: 'Refuse',
        GW_GATEWAY_PARAMETERS_ALLOWED_FIELDS: 'default, env[HTTPS_PROXY].value,image.tag',
        GW_CLASS_PARAMETERS_ENFORCED_FIELDS: '*',
        GW_GATEWAY_DENIED_KEY_PREFIXES: 'none',
      }),
    ).toEqual({
      parameters: 'Refuse',
      allowedFields: [...DEFAULT_RESTRICTIONS.allowedFields, 'env[HTTPS_PROXY].value', 'image.tag'],
      enforcedFields: ['*'],
      deniedKeyPrefixes: [],
    })
    expect(
      restrictions({
        GW_GATEWAY_PARAMETERS: 'Deny',
        GW_GATEWAY_PARAMETERS_ALLOWED_FIELDS: 'image,.tag',
        GW_CLASS_PARAMETERS_ENFORCED_FIELDS: 'env[',
        GW_GATEWAY_DENIED_KEY_PREFIXES: 'a b',
      }),
    ).toMatchObject([
      { path: 'GW_GATEWAY_PARAMETERS' },
      { path: 'GW_GATEWAY_PARAMETERS_ALLOWED_FIELDS' },
      { path: 'GW_CLASS_PARAMETERS_ENFORCED_FIELDS' },
      { path: 'GW_GATEWAY_DENIED_KEY_PREFIXES' },
    ])
  })

  it('names unknown settings', () => {
    const environment = {
      GW_LOG_LEVEL: 'info',
      GW_LOGLEVEL: 'debug',
      GW_ENABLE_MODEL: '',
      GW_BUILD_DATE: '2026-01-01',
      GW_SERVICE_HOST: '10.0.0.1',
      GW_PORT_80_TCP_PORT: '80',
      GW_PORT: 'tcp://10.0.0.1:80',
      OTHER: 'x',
    }
    expect(read(environment)).toMatchObject({ unknown: ['GW_ENABLE_MODEL', 'GW_LOGLEVEL'] })
    expect(read({})).toMatchObject({ unknown: [] })
  })

  it('names all invalid settings at once', () => {
    const outcome = read({
      GW_LOG_LEVEL: 'loud',
      GW_CONTROLLER_NAME: 'no-slash',
      GW_GATEWAY_CLASS_NAME: 'Not Valid',
      GW_GATEWAY_CLASS_PARAMETERS_REFS: '{"gw":{"name":"p"}}',
      GW_DISCOVERY_NAMESPACE_SELECTORS: '{',
      GW_NO_LISTENERS_DUMMY_PORT: '70000',
      GW_GATEWAY_LISTENERS_MAX: '0',
      GW_ADMIN_ADDR: 'here',
      GW_WATCH_NAMESPACES: 'shop,Not_A_Name',
      GW_ENABLE_MODELS: 'yes',
      GW_DNS_LOOKUP_FAMILY: 'IPV4',
      GW_BACKEND_ALLOW_ADDRESSES: '127.0.0.1,localhost',
      GW_BACKEND_ALLOW_UNIX_PATHS: '/run/../etc',
      GW_KEY_SET_ALLOW_ADDRESSES: '10.0.0.0/33',
      GW_PROXY_IMAGE_REGISTRY: 'https://registry.example',
      GW_PROXY_IMAGE_REPOSITORY: 'gw proxy',
      GW_PROXY_IMAGE_TAG: 'a:b',
      POD_NAMESPACE: 'X Y',
    })
    expect('problems' in outcome && outcome.problems.map(({ path }) => path).sort()).toEqual([
      'GW_ADMIN_ADDR',
      'GW_BACKEND_ALLOW_ADDRESSES',
      'GW_BACKEND_ALLOW_UNIX_PATHS',
      'GW_CONTROLLER_NAME',
      'GW_DISCOVERY_NAMESPACE_SELECTORS',
      'GW_DNS_LOOKUP_FAMILY',
      'GW_ENABLE_MODELS',
      'GW_GATEWAY_CLASS_NAME',
      'GW_GATEWAY_CLASS_PARAMETERS_REFS',
      'GW_GATEWAY_LISTENERS_MAX',
      'GW_KEY_SET_ALLOW_ADDRESSES',
      'GW_LOG_LEVEL',
      'GW_NO_LISTENERS_DUMMY_PORT',
      'GW_PROXY_IMAGE_REGISTRY',
      'GW_PROXY_IMAGE_REPOSITORY',
      'GW_PROXY_IMAGE_TAG',
      'GW_WATCH_NAMESPACES',
      'POD_NAMESPACE',
    ])
  })

  it.each(['[1]', '[{"matchLabels":{"a":1}}]', '[{"matchExpressions":[{"key":"a","operator":"Like"}]}]', '[{"x":1}]'])(
    'refuses the selectors %s',
    (text) => {
      expect(read({ GW_DISCOVERY_NAMESPACE_SELECTORS: text })).toMatchObject({
        problems: [{ path: 'GW_DISCOVERY_NAMESPACE_SELECTORS' }],
      })
    },
  )
})
