// Runs once before all files: a cluster with this build, the upstreams and the client. At the end it removes the
// cluster if it was started here, else the namespaces.
import { readFileSync } from 'node:fs'
import { useCluster } from '../cluster/use-cluster.ts'
import { clientPod, CLIENT_NAMESPACE } from './client.ts'
import { demoImage, loadSampleImage, SAMPLE_IMAGE } from './images.ts'
import { applyObject, kubectl, rolledOut } from './kubectl.ts'
import { NAMESPACE, sample } from './samples.ts'

export default async function setup(): Promise<() => Promise<void>> {
  const cluster = await useCluster()
  await rolledOut('deployment', 'gw-system', 'gw-controller')
  const image = (await loadSampleImage()) ? SAMPLE_IMAGE : demoImage()
  const backends = readFileSync(sample('demo', 'backends.yaml'), 'utf8').replace(SAMPLE_IMAGE, image)
  await kubectl(['apply', '-f', '-'], backends)
  await applyObject({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: CLIENT_NAMESPACE } })
  await applyObject(clientPod(demoImage()))
  await rolledOut('deployment', NAMESPACE, 'demo')
  await kubectl(['wait', '-n', CLIENT_NAMESPACE, '--for=condition=Ready', '--timeout', '120s', 'pod/client'])
  return async () => {
    if (cluster.own) await cluster.stop()
    else await kubectl(['delete', 'namespace', NAMESPACE, CLIENT_NAMESPACE, '--ignore-not-found', '--timeout', '170s'])
  }
}
