// Stuck roll-outs, and a deleted Service: the status of the Gateway in the meantime.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from './suite/client.ts'
import {
  applyObject,
  type Condition,
  conditionOf,
  get,
  kubectl,
  list,
  remove,
  rolledOut,
  waitFor,
} from './suite/kubectl.ts'
import { NAMESPACE, programmed, serviceOf, themeFile, useSample } from './suite/samples.ts'

const SYSTEM = 'gw-system'
const PARAMETERS = 'stuck'
const QUESTION = { url: `http://${serviceOf('http')}/`, host: 'www.example.com' }
const CONTROLLER = 'deployment/gw-controller'
const ALLOWED = 'GW_GATEWAY_PARAMETERS_ALLOWED_FIELDS'
const STUCK_MS = 120_000

async function parameters(spec: object): Promise<void> {
  const metadata = { name: PARAMETERS, namespace: NAMESPACE }
  await applyObject({ apiVersion: 'gw.dev/v1alpha1', kind: 'GwParameters', metadata, spec })
}

async function controllerVariable(variable: string): Promise<void> {
  await kubectl(['set', 'env', '-n', SYSTEM, CONTROLLER, variable])
  await rolledOut('deployment', SYSTEM, 'gw-controller')
}

async function says(part: string, type = 'Programmed'): Promise<Condition> {
  const ask = async (): Promise<Condition | undefined> => {
    const condition = conditionOf(await get('gateway', NAMESPACE, 'http'), type)
    return condition?.message.includes(part) === true ? condition : undefined
  }
  return waitFor(`"${part}" in ${type}`, ask, STUCK_MS)
}

beforeAll(async () => {
  await controllerVariable(`${ALLOWED}=default,image.tag`)
  await parameters({ deployment: { spec: { replicas: 1 } } })
  await useSample('http')
  const infrastructure = { parametersRef: { group: 'gw.dev', kind: 'GwParameters', name: PARAMETERS } }
  const patch = JSON.stringify({ spec: { infrastructure } })
  await kubectl(['patch', 'gateway', '-n', NAMESPACE, 'http', '--type', 'merge', '-p', patch])
  await programmed('http')
  await until(QUESTION, { status: 200 })
})

afterAll(async () => {
  await remove(themeFile('http'))
  await kubectl(['delete', 'gwparameters', '-n', NAMESPACE, PARAMETERS, '--ignore-not-found'])
  await controllerVariable(`${ALLOWED}-`)
})

describe('a deleted Service', () => {
  it('is created again, and Programmed always matches the addresses', async () => {
    const agreed = async (): Promise<string> => {
      const gateway = await get('gateway', NAMESPACE, 'http')
      const { status, reason } = conditionOf(gateway, 'Programmed') ?? {}
      // Of a Gateway.
      const addresses = (gateway?.status?.['addresses'] ?? []) as { value: string }[]
      return addresses.length > 0 ? `${status} with an address` : `${status} ${reason} without`
    }
    const before = await get('service', NAMESPACE, 'http')
    await kubectl(['delete', 'service', '-n', NAMESPACE, 'http', '--wait=false'])
    const seen = new Set<string>()
    await waitFor('the new Service with its address', async () => {
      seen.add(await agreed())
      const service = await get('service', NAMESPACE, 'http')
      const isNew = service !== undefined && service.metadata.uid !== before?.metadata.uid
      return isNew && JSON.stringify(service.status).includes('"ip"') ? true : undefined
    })
    await programmed('http')
    seen.add(await agreed())
    seen.delete('True with an address')
    seen.delete('False AddressNotAssigned without')
    expect([...seen]).toEqual([])
    await until(QUESTION, { status: 200 })
  })
})

describe('a stuck roll-out', () => {
  it('because of an image is reported while the previous version serves', async () => {
    await parameters({ image: { tag: 'missing' }, deployment: { spec: { replicas: 1 } } })
    const { status, message } = await says('The roll-out is stuck, the former version serves traffic: pod http-')
    expect(status).toBe('True')
    expect(message).toContain('cannot pull the image')
    await until(QUESTION, { status: 200 }, { times: 5 })
    await waitFor(
      'the Event',
      async () => {
        const events = await list('events', '-n', NAMESPACE, '--field-selector', 'reason=ProxyNotRunning')
        return events.length > 0 ? true : undefined
      },
      STUCK_MS,
    )
  })

  it('because of a missing node is reported too', async () => {
    const nodeSelector = { 'gw.example/none': 'x' }
    await parameters({ deployment: { spec: { replicas: 1, template: { spec: { nodeSelector } } } } })
    const { status, message } = await says('cannot be scheduled')
    expect([status, message.includes('The roll-out is stuck')]).toEqual(['True', true])
  })

  it('is no longer reported when it continues', async () => {
    await parameters({ deployment: { spec: { replicas: 1 } } })
    await rolledOut('deployment', NAMESPACE, 'http')
    const message = await waitFor('the message to be as before', async () => {
      const programmedNow = conditionOf(await get('gateway', NAMESPACE, 'http'), 'Programmed')
      return programmedNow?.message.includes('stuck') === false ? programmedNow.message : undefined
    })
    expect(message).not.toContain('do not run')
  })

  it('is not caused by a missing catalogue or mesh', async () => {
    const modelCatalog = { sources: [{ configMap: { name: 'no-such-catalogue' } }] }
    await parameters({ modelCatalog, meshIntegration: {}, deployment: { spec: { replicas: 1 } } })
    expect(await says('no-such-catalogue not found', 'Accepted')).toMatchObject({ status: 'True' })
    await waitFor('the new template', async () => {
      const deployment = await get('deployment', NAMESPACE, 'http')
      return JSON.stringify(deployment?.spec).includes('no-such-catalogue') ? true : undefined
    })
    await rolledOut('deployment', NAMESPACE, 'http')
    await until(QUESTION, { status: 200 }, { times: 5 })
    await parameters({ deployment: { spec: { replicas: 1 } } })
  })
})
