import { describe, expect, it } from 'vitest'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import type { GatewayClass } from '#api/gateway/gatewayclass.gen.ts'
import type { GwParameters } from '#api/v1alpha1/gwparameters.gen.ts'
import { parametersOf } from './references.ts'

const ALLOW = { parameters: 'Allow' } as const
const REF = { group: 'gw.dev', kind: 'GwParameters', name: 'p' }

function gateway(parametersRef?: typeof REF): Gateway {
  const infrastructure = parametersRef === undefined ? {} : { infrastructure: { parametersRef } }
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name: 'a', namespace: 'apps' },
    spec: { gatewayClassName: 'gw', listeners: [], ...infrastructure },
  }
}

function gatewayClass(parametersRef?: typeof REF & { namespace?: string }): GatewayClass {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'GatewayClass',
    metadata: { name: 'gw' },
    spec: { controllerName: 'gw.dev/controller', ...(parametersRef === undefined ? {} : { parametersRef }) },
  }
}

function found(namespace: string, name: string): GwParameters | undefined {
  if (name !== 'p') return undefined
  return { apiVersion: 'gw.dev/v1alpha1', kind: 'GwParameters', metadata: { name, namespace }, spec: {} }
}

it('finds none where none is asked for', () => {
  const result = parametersOf({ gateway: gateway(), gatewayClass: gatewayClass(), find: found, restrictions: ALLOW })
  expect(result).toEqual({ classParameters: undefined, gatewayParameters: undefined, problems: [] })
})

it('finds those of the class where it says, those of the Gateway beside it', () => {
  const result = parametersOf({
    gateway: gateway(REF),
    gatewayClass: gatewayClass({ ...REF, namespace: 'system' }),
    find: found,
    restrictions: ALLOW,
  })
  expect(result.classParameters?.metadata.namespace).toBe('system')
  expect(result.gatewayParameters?.metadata.namespace).toBe('apps')
  expect(result.problems).toEqual([])
})

it.each<[string, Gateway, GatewayClass, string, string]>([
  [
    'absent',
    gateway({ ...REF, name: 'x' }),
    gatewayClass(),
    'spec.infrastructure.parametersRef',
    'GwParameters apps/x not found',
  ],
  [
    'of another kind',
    gateway({ ...REF, kind: 'ConfigMap' }),
    gatewayClass(),
    'spec.infrastructure.parametersRef',
    'ConfigMap of group "gw.dev" is not supported; refer to a GwParameters of gw.dev',
  ],
  [
    'of another group',
    gateway({ ...REF, group: '' }),
    gatewayClass(),
    'spec.infrastructure.parametersRef',
    'GwParameters of group "" is not supported; refer to a GwParameters of gw.dev',
  ],
  [
    'of a class and without a namespace',
    gateway(),
    gatewayClass(REF),
    'spec.parametersRef.namespace',
    'is required: the namespace of the GwParameters',
  ],
  [
    'of a class and absent',
    gateway(),
    gatewayClass({ ...REF, name: 'x', namespace: 'system' }),
    'spec.parametersRef',
    'GwParameters system/x not found',
  ],
])('refuses a reference that is %s', (_, ofGateway, ofClass, path, message) => {
  const { problems } = parametersOf({ gateway: ofGateway, gatewayClass: ofClass, find: found, restrictions: ALLOW })
  expect(problems).toMatchObject([{ path, message, reason: 'InvalidParameters', severity: 'error' }])
})

describe('where the administrator refuses parameters of Gateways', () => {
  const restrictions = { parameters: 'Refuse' } as const

  it('those of a class are used', () => {
    const ofClass = gatewayClass({ ...REF, namespace: 'system' })
    const result = parametersOf({ gateway: gateway(), gatewayClass: ofClass, find: found, restrictions })
    expect(result.classParameters?.metadata.namespace).toBe('system')
    expect(result.problems).toEqual([])
  })

  it('a reference of a Gateway is an error that names the setting', () => {
    const result = parametersOf({ gateway: gateway(REF), gatewayClass: gatewayClass(), find: found, restrictions })
    expect(result.gatewayParameters).toBeUndefined()
    expect(result.problems).toMatchObject([
      { path: 'spec.infrastructure.parametersRef', reason: 'InvalidParameters', severity: 'error' },
    ])
    expect(result.problems[0]?.message).toContain('GW_GATEWAY_PARAMETERS=Allow')
  })
})
