import { expect, it } from 'vitest'
import { EventQueue } from './event-queue.ts'
import { LeftOutSecrets } from './left-out-secrets.ts'
import {
  addGateway,
  kubeForEachTest,
  NO_TRANSLATION,
  NotedKeys,
  queueWorld,
  runAgainst,
} from './queue-world.testing.ts'
import type { Troubles } from './status-queue.ts'

const LONG_AFTER_MS = 60_000

const kube = kubeForEachTest()

function made(troubles: Troubles) {
  const all = queueWorld(NO_TRANSLATION)
  const keys = new NotedKeys()
  return {
    ...all,
    keys,
    queue: new EventQueue({ ...all, keys, troublesOf: () => troubles, leftOutSecrets: new LeftOutSecrets() }),
  }
}

it('writes one Event for a problem that has lasted for a while', async () => {
  const all = made({ deployProblems: [], failure: 'the object of another owner has this name' })
  addGateway(all, 'web')
  all.queue.lookForDue(0)
  expect(all.keys.taken()).toEqual([])
  all.queue.lookForDue(LONG_AFTER_MS)
  expect(all.keys.taken()).toEqual(['Gateway shop/web'])
  await runAgainst(kube(), all.queue.run('Gateway shop/web'))
  const events = kube().store.list('events')
  expect(events.map(({ message }) => message)).toContain('the object of another owner has this name')
  all.queue.changed()
  all.queue.lookForDue(2 * LONG_AFTER_MS)
  expect(all.keys.taken()).toEqual([])
})

it('checks nothing while nothing has changed', () => {
  const all = made({ deployProblems: [], failure: undefined })
  all.queue.lookForDue(0)
  const object = {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    namespace: 'shop',
    name: 'web',
    uid: 'u',
  }
  all.queue.setCertificates([{ object, reason: 'CertificateEnds', message: 'soon', afterMs: 0 }])
  all.queue.lookForDue(1)
  expect(all.keys.taken()).toEqual(['Gateway shop/web'])
  all.queue.setCertificates([])
  all.queue.lookForDue(2)
  // A Gateway that has come is no news by itself.
  addGateway(all, 'web')
  all.queue.lookForDue(3)
  expect(all.keys.taken()).toEqual([])
})
