// A Kubernetes cluster for one test run: nodes of kind as containers of testcontainers. The reaper removes them when
// the run ends in any way.
import { randomBytes } from 'node:crypto'
import { GenericContainer, Network, type StartedNetwork, type StartedTestContainer, Wait } from 'testcontainers'
import { parse, stringify } from 'yaml'
import { API_PORT, kubeadmConfig, POD_SUBNET } from './kubeadm.ts'
import { reaperImage } from './reaper-image.ts'

/** The tests move pods between nodes. */
const WORKERS = 2
const START_MS = 180_000
const ADMIN = '/etc/kubernetes/admin.conf'
const CONFIG = '/kind/kubeadm.conf'

export interface OwnCluster {
  /** Prefix of the names of its nodes, and the cluster for tools of kind. */
  readonly name: string
  /** Kubeconfig for programs on this machine. */
  readonly kubeconfig: string
  stop(): Promise<void>
}

interface AdminConfig {
  readonly users: readonly { readonly user: object }[]
  readonly clusters: readonly { readonly cluster: object }[]
}

interface Node {
  readonly name: string
  readonly container: StartedTestContainer
}

/** A container that systemd and the kubelet treat as a machine, as kind creates it. */
class KindNode extends GenericContainer {
  constructor(image: string, { cluster, name, network }: { cluster: string; name: string; network: StartedNetwork }) {
    super(image)
    const controlPlane = name.endsWith('control-plane')
    this.withName(name).withHostname(name).withNetwork(network).withPrivilegedMode()
    this.withTmpFs({ '/tmp': '', '/run': '' })
    this.withBindMounts([{ source: '/lib/modules', target: '/lib/modules', mode: 'ro' }])
    // kind finds it by these labels.
    const role = controlPlane ? 'control-plane' : 'worker'
    this.withLabels({ 'io.x-k8s.kind.cluster': cluster, 'io.x-k8s.kind.role': role })
    if (controlPlane) this.withExposedPorts(API_PORT)
    this.withWaitStrategy(Wait.forSuccessfulCommand('systemctl is-active multi-user.target containerd.service'))
    this.withStartupTimeout(START_MS)
    // Settings without a method: a volume, as overlayfs cannot run on overlayfs, and its own cgroups also with version
    // 1.
    this.createOpts.Volumes = { '/var': {} }
    Object.assign(this.hostConfig, { CgroupnsMode: 'private' })
    // Not reachable for other machines.
    if (controlPlane) this.hostConfig.PortBindings = { [`${API_PORT}/tcp`]: [{ HostIp: '127.0.0.1', HostPort: '0' }] }
  }
}

/** @throws {Error} with the output of the failed step; the reaper removes the started containers. */
export async function startOwnCluster(image: string): Promise<OwnCluster> {
  process.env['RYUK_CONTAINER_IMAGE'] ??= reaperImage()
  const cluster = `gw-e2e-${randomBytes(4).toString('hex')}`
  const network = await new Network().start()
  const names = [
    `${cluster}-control-plane`,
    ...Array.from({ length: WORKERS }, (_, index) => `${cluster}-worker${index === 0 ? '' : index + 1}`),
  ]
  const nodes = await Promise.all(
    names.map(async (name) => ({ name, container: await new KindNode(image, { cluster, name, network }).start() })),
  )
  const [controlPlane, ...workers] = nodes
  if (controlPlane === undefined) throw new Error('a cluster without nodes')
  await configure(cluster, nodes, network)
  await run(controlPlane, ['kubeadm', 'init', '--config', CONFIG, '--skip-token-print', '--v=5'])
  await installBasics(controlPlane)
  await Promise.all(workers.map((worker) => run(worker, ['kubeadm', 'join', '--config', CONFIG, '--v=5'])))
  await ready(controlPlane)
  return { name: cluster, kubeconfig: await kubeconfig(cluster, controlPlane), stop: () => stop(nodes, network) }
}

async function configure(cluster: string, nodes: readonly Node[], network: StartedNetwork): Promise<void> {
  const token = `${randomBytes(3).toString('hex')}.${randomBytes(8).toString('hex')}`
  const [first] = nodes
  const endpoint = `${first?.name}:${API_PORT}`
  for (const node of nodes) {
    const version = (await run(node, ['cat', '/kind/version'])).trim()
    const address = node.container.getIpAddress(network.getName())
    const content = kubeadmConfig({
      cluster,
      node: node.name,
      address,
      controlPlane: node === first,
      endpoint,
      version,
      token,
    })
    await node.container.copyContentToContainer([{ content, target: CONFIG }])
  }
}

/** Network and storage from the image of the node. */
async function installBasics(node: Node): Promise<void> {
  for (const name of ['default-cni.yaml', 'default-storage.yaml']) {
    const text = await run(node, ['cat', `/kind/manifests/${name}`])
    const target = `/kind/own-${name}`
    await node.container.copyContentToContainer([
      { content: text.replaceAll(/\{\{ *\.PodSubnet *\}\}/g, POD_SUBNET), target },
    ])
    await run(node, ['kubectl', '--kubeconfig', ADMIN, 'apply', '-f', target])
  }
}

async function ready(node: Node): Promise<void> {
  const kubectl = ['kubectl', '--kubeconfig', ADMIN]
  await run(node, [...kubectl, 'wait', '--for=condition=Ready', 'nodes', '--all', '--timeout=180s'])
  await run(node, [...kubectl, '-n', 'kube-system', 'rollout', 'status', 'deployment/coredns', '--timeout=180s'])
}

/** The administrator's kubeconfig, with the port on this machine, and a context with the name of kind. */
async function kubeconfig(cluster: string, node: Node): Promise<string> {
  const config = parse(await run(node, ['cat', ADMIN])) as AdminConfig // kubeadm writes it
  const [{ user } = {}] = config.users
  const [{ cluster: server } = {}] = config.clusters
  const context = `kind-${cluster}`
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    users: [{ name: context, user }],
    clusters: [
      {
        name: context,
        cluster: { ...server, server: `https://127.0.0.1:${node.container.getMappedPort(API_PORT)}` },
      },
    ],
    contexts: [{ name: context, context: { user: context, cluster: context } }],
    'current-context': context,
  })
}

async function run({ name, container }: Node, command: string[]): Promise<string> {
  const { exitCode, output, stdout } = await container.exec(command)
  if (exitCode !== 0) throw new Error(`${name}: ${command.join(' ')} ended with ${exitCode}:\n${output}`)
  return stdout
}

async function stop(nodes: readonly Node[], network: StartedNetwork): Promise<void> {
  // Nothing in them is needed, so their processes get no time to end.
  await Promise.all(nodes.map(({ container }) => container.stop({ timeout: 0, remove: true, removeVolumes: true })))
  await network.stop()
}
