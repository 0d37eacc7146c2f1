// Calls the client in the cluster (hack/demo/client.ts) through `kubectl exec`. Traffic of the tests starts in a pod,
// so that they need no route into the cluster.
import type { Call, Expectation } from '../../../hack/demo/client.ts'
import type { LoadPlan, LoadSummary } from '../../../hack/demo/load.ts'
import type { GrpcQuestion, HttpAnswer, HttpQuestion } from '../../../hack/demo/questions.ts'
import type { TcpQuestion } from '../../../hack/demo/tcp.ts'
import { kubectl } from './kubectl.ts'

export const CLIENT_NAMESPACE = 'gw-e2e'

const NODE = ['/usr/local/bin/node', '/app/demo.js']

/** Without its own CPU request it stops for seconds while new pods start, and measures slow responses. */
const RESOURCES = { requests: { cpu: '500m', memory: '64Mi' } }

export function clientPod(image: string): unknown {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'client', namespace: CLIENT_NAMESPACE },
    spec: {
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      containers: [{ name: 'client', image, args: ['client'], imagePullPolicy: 'IfNotPresent', resources: RESOURCES }],
    },
  }
}

async function ask<T>(call: Call): Promise<T> {
  const text = await kubectl(['exec', '-n', CLIENT_NAMESPACE, 'client', '--', ...NODE, 'call', JSON.stringify(call)])
  return JSON.parse(text) as T // the client answers this call with it
}

export async function send(question: HttpQuestion): Promise<HttpAnswer> {
  return ask({ op: 'http', question })
}

/** @throws {Error} with the last response if the expected one did not arrive in time */
export async function until(
  question: HttpQuestion,
  expected: Expectation,
  { withinMs = 30_000, times = 1 } = {},
): Promise<HttpAnswer> {
  const answer = await ask<HttpAnswer & { met: boolean }>({ op: 'until', question, expected, times, withinMs })
  if (answer.met) return answer
  const wanted = JSON.stringify(expected)
  throw new Error(`${question.url}: expected ${wanted} within ${withinMs / 1000} s, got ${JSON.stringify(answer)}`)
}

export async function talkTcp(question: TcpQuestion): Promise<{ received?: string; error?: string }> {
  return ask({ op: 'tcp', question })
}

export async function callGrpc(
  question: GrpcQuestion,
): Promise<{ status?: string; message?: string; pod?: string; error?: string }> {
  return ask({ op: 'grpc', question })
}

export async function startLoad(plan: LoadPlan): Promise<void> {
  await ask({ op: 'start', plan })
}

export async function stopLoad(): Promise<LoadSummary> {
  return ask({ op: 'stop' })
}
