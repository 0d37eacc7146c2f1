import { describe, expect, it } from 'vitest'
import type { Condition, GatewayBody, StatusBody } from '../translate/object-status.ts'
import { condition } from './condition.ts'
import { type LeftOutUse, notDeliveredText, type SecretUser, withLeftOutSecrets } from './left-out-secrets.ts'

function good(type: string, message = 'fine'): Condition {
  return condition({ type, isTrue: true, reason: type, message, generation: 3 })
}

function use(user: Partial<SecretUser>, change: Partial<LeftOutUse> = {}): LeftOutUse {
  const whole = { kind: 'Gateway', namespace: 'shop', name: 'web', secrets: ['shop/users'], ...user }
  return { gateway: 'shop/web', user: whole, hasServedListener: true, ...change }
}

function listener(name: string): GatewayBody['listeners'][number] {
  return {
    name,
    attachedRoutes: 0,
    supportedKinds: [],
    conditions: ['Accepted', 'Programmed', 'ResolvedRefs'].map((type) => good(type)),
  }
}

const gateway: GatewayBody = {
  addresses: [],
  attachedListenerSets: 0,
  conditions: [good('Accepted'), good('Programmed')],
  listeners: [listener('a'), listener('b')],
}

/** `Accepted=True Accepted` for each condition. */
function shortOf(conditions: readonly Condition[] = []): string[] {
  return conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`)
}

function conditionsOf(body: StatusBody, uses: readonly LeftOutUse[]): string[] {
  const now = withLeftOutSecrets(body, uses)
  return shortOf('conditions' in now ? now.conditions : [])
}

describe('an object with Secrets that are not delivered', () => {
  it('stays as it is without such Secrets', () => {
    expect(withLeftOutSecrets(gateway, [])).toBe(gateway)
  })

  it('Gateway: the listener is not programmed, the others are', () => {
    const now = withLeftOutSecrets(gateway, [use({ listener: 'b' })]) as GatewayBody
    expect(now.listeners.map(({ conditions }) => shortOf(conditions))).toEqual([
      ['Accepted=True Accepted', 'Programmed=True Programmed', 'ResolvedRefs=True ResolvedRefs'],
      ['Accepted=True Accepted', 'Programmed=False SecretsNotDelivered', 'ResolvedRefs=False SecretsNotDelivered'],
    ])
    expect(shortOf(now.conditions)).toEqual(['Accepted=True ListenersNotValid', 'Programmed=True Programmed'])
    expect(now.conditions[0]?.message).toBe('Some listeners are not accepted: b: SecretsNotDelivered')
  })

  it('Gateway: without a listener that is served it is not programmed', () => {
    const uses = ['a', 'b'].map((name) => use({ listener: name }, { hasServedListener: false }))
    expect(conditionsOf(gateway, uses)).toEqual(['Accepted=False ListenersNotValid', 'Programmed=False Invalid'])
  })

  it('Gateway: what translation reports about other listeners stays', () => {
    const accepted = { ...good('Accepted', 'Some listeners are not accepted: a: Invalid'), reason: 'ListenersNotValid' }
    const now = withLeftOutSecrets({ ...gateway, conditions: [accepted] }, [use({ listener: 'b' })]) as GatewayBody
    expect(now.conditions[0]?.message).toBe('Some listeners are not accepted: a: Invalid; b: SecretsNotDelivered')
  })

  it('ListenerSet: its own listeners decide', () => {
    const set = { conditions: [good('Accepted'), good('Programmed')], listeners: [listener('a')] }
    const expected = ['Accepted=False ListenersNotValid', 'Programmed=False Invalid']
    expect(conditionsOf(set, [use({ kind: 'ListenerSet', name: 'set', listener: 'a' })])).toEqual(expected)
  })

  it('GwPolicy: it is not attached at this Gateway, and is at others', () => {
    const ancestors = ['web', 'other'].map((name) => ({
      ancestorRef: { kind: 'Gateway', namespace: 'shop', name },
      controllerName: 'c',
      conditions: [good('Accepted'), good('Attached')],
    }))
    const now = withLeftOutSecrets({ ancestors }, [use({ kind: 'GwPolicy', name: 'p' })])
    expect('ancestors' in now && now.ancestors.map(({ conditions }) => shortOf(conditions))).toEqual([
      ['Accepted=True Accepted', 'Attached=False SecretsNotDelivered'],
      ['Accepted=True Accepted', 'Attached=True Attached'],
    ])
  })

  it('GwPolicy: valid in part only, it gets the condition; a loss that is known stays', () => {
    const ancestorRef = { namespace: 'shop', name: 'web' }
    const lost = condition({ type: 'Attached', isTrue: false, reason: 'Overridden', message: 'x', generation: 3 })
    const found = [[good('Accepted')], [good('Accepted'), lost]].map((conditions) => {
      const now = withLeftOutSecrets({ ancestors: [{ ancestorRef, controllerName: 'c', conditions }] }, [
        use({ kind: 'GwPolicy', name: 'p' }),
      ])
      return 'ancestors' in now && shortOf(now.ancestors[0]?.conditions)
    })
    expect(found).toEqual([
      ['Accepted=True Accepted', 'Attached=False SecretsNotDelivered'],
      ['Accepted=True Accepted', 'Attached=False Overridden'],
    ])
  })

  it('BackendTLSPolicy and GwModel: the reference is not resolved', () => {
    const conditions = [good('Accepted'), good('ResolvedRefs')]
    const expected = ['Accepted=True Accepted', 'ResolvedRefs=False SecretsNotDelivered']
    const ancestorRef = { namespace: 'shop', name: 'web' }
    const policy = withLeftOutSecrets({ ancestors: [{ ancestorRef, controllerName: 'c', conditions }] }, [
      use({ kind: 'BackendTLSPolicy', name: 'p' }),
    ])
    expect('ancestors' in policy && shortOf(policy.ancestors[0]?.conditions)).toEqual(expected)
    const model = withLeftOutSecrets({ parents: [{ parentRef: { name: 'web' }, controllerName: 'c', conditions }] }, [
      use({ kind: 'GwModel', name: 'm' }),
    ])
    expect('parents' in model && shortOf(model.parents[0]?.conditions)).toEqual(expected)
  })

  it('GwBackend: it is valid in part', () => {
    const backend = { conditions: [good('Accepted')] }
    expect(conditionsOf(backend, [use({ kind: 'GwBackend', name: 'b' })])).toEqual(['Accepted=True PartiallyValid'])
  })

  it('the text counts what it does not name', () => {
    const secrets = Array.from({ length: 12 }, (_, at) => `n/s${at}`)
    expect(notDeliveredText(use({ secrets }))).toMatch(
      /^Secrets n\/s0, .*n\/s9 and 2 others are not delivered: Gateway shop\/web /,
    )
  })
})
