// What a user reads about proxies that do not run.
import { describe, expect, it } from 'vitest'
import type { ContainerTrouble } from '../kube/container-troubles.ts'
import { type ConditionOfPart, type PodFacts, proxyTrouble } from './proxy-trouble.ts'

const CONTAINER = { name: 'gw', image: 'gw.dev/gw:v1' }

function pod(name: string, facts: Partial<PodFacts> = {}): PodFacts {
  return { name, conditions: [], containers: [], ...facts }
}

const waiting = (reason: string, message = ''): ContainerTrouble => ({ ...CONTAINER, waiting: { reason, message } })

const workload = (...conditions: ConditionOfPart[]) => ({ kind: 'Deployment', name: 'web', conditions })

const UNSCHEDULED = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes' }
const QUOTA = { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'exceeded quota: few' }

describe('proxyTrouble', () => {
  it('reports nothing while pods run or start', () => {
    expect(proxyTrouble(undefined, [])).toBeUndefined()
    const solved = { ...QUOTA, status: 'False' }
    expect(proxyTrouble(workload(solved), [pod('a', { conditions: [{ type: 'Ready', status: 'False' }] })])).toBe(
      undefined,
    )
  })

  it('first reports why pods cannot be created', () => {
    const pods = [pod('a', { conditions: [UNSCHEDULED] })]
    expect(proxyTrouble(workload(QUOTA), pods)).toBe('Deployment web: exceeded quota: few')
  })

  it('names the first pod with a problem by name, in any order', () => {
    const pods = [pod('c', { conditions: [UNSCHEDULED] }), pod('a'), pod('b', { containers: [waiting('X')] })]
    const expected = 'pod b cannot start its container gw: X'
    expect([proxyTrouble(workload(), pods), proxyTrouble(workload(), pods.toReversed())]).toEqual([expected, expected])
  })

  it('falls back to a rollout that takes too long', () => {
    const late = { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message: 'timed out' }
    expect(proxyTrouble(workload(late), [pod('a')])).toBe('Deployment web: timed out')
    expect(proxyTrouble(workload({ ...late, status: 'True' }), [pod('a')])).toBeUndefined()
    const waits = pod('a', { conditions: [UNSCHEDULED] })
    expect(proxyTrouble(workload(late), [waits])).toBe('pod a cannot be scheduled: 0/3 nodes')
  })

  it.each<[Partial<PodFacts>, string]>([
    [{ conditions: [UNSCHEDULED] }, 'cannot be scheduled: 0/3 nodes'],
    [
      { containers: [waiting('CreateContainerConfigError', 'secret "x" not found')] },
      'cannot start its container gw: CreateContainerConfigError: secret "x" not found',
    ],
    [
      { containers: [{ ...CONTAINER, ended: { exitCode: 137, reason: 'OOMKilled', message: '' } }] },
      'has a container gw that ended with code 137 (OOMKilled); see its log',
    ],
    [{ containers: [waiting('CrashLoopBackOff')] }, 'restarts its container gw repeatedly; see its log'],
  ])('reports %o', (facts, expected) => {
    expect(proxyTrouble(workload(), [pod('a', facts)])).toBe(`pod a ${expected}`)
  })

  it.each([
    [waiting('ErrImagePull', 'not found'), waiting('ImagePullBackOff', 'Back-off pulling image for 10s')],
    [
      { ...CONTAINER, ended: { exitCode: 1, reason: 'Error', message: '' } },
      { ...waiting('CrashLoopBackOff', 'back-off 10s'), ended: { exitCode: 1, reason: 'Error', message: '' } },
    ],
  ])('reports the same between two attempts (%#)', (one, other) => {
    const text = (container: ContainerTrouble): string | undefined =>
      proxyTrouble(workload(), [pod('a', { containers: [container] })])
    expect(text(one)).toBe(text(other))
    expect(text(one)).toMatch(/pull the image gw.dev\/gw:v1|ended with code 1;/)
  })
})
