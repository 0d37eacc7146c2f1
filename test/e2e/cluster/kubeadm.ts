// The configuration of kubeadm in a node: as kind writes it, without the parts that test clusters never change.

export interface NodeConfig {
  readonly cluster: string
  readonly node: string
  /** Address of the node in the network of its containers. */
  readonly address: string
  readonly controlPlane: boolean
  /** Host and port of the API server in that network. */
  readonly endpoint: string
  readonly version: string
  /** The token with which nodes join. */
  readonly token: string
}

export const POD_SUBNET = '10.244.0.0/16'
const SERVICE_SUBNET = '10.96.0.0/16'
export const API_PORT = 6443
const KUBEADM = 'kubeadm.k8s.io/v1beta4'

/** JSON documents, which are valid YAML. */
export function kubeadmConfig(config: NodeConfig): string {
  const documents = [
    clusterConfiguration(config),
    ...nodeConfigurations(config),
    kubeletConfiguration(),
    {
      apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
      kind: 'KubeProxyConfiguration',
      mode: 'iptables',
      iptables: { minSyncPeriod: '1s' },
      // A setting of the whole machine.
      conntrack: { maxPerCore: 0 },
    },
  ]
  return documents.map((document) => JSON.stringify(document)).join('\n---\n')
}

function clusterConfiguration({ cluster, endpoint, version }: NodeConfig): object {
  return {
    apiVersion: KUBEADM,
    kind: 'ClusterConfiguration',
    kubernetesVersion: version,
    clusterName: cluster,
    controlPlaneEndpoint: endpoint,
    // The tests connect through a port of the machine.
    apiServer: { certSANs: ['localhost', '127.0.0.1'] },
    controllerManager: { extraArgs: [{ name: 'enable-hostpath-provisioner', value: 'true' }] },
    networking: { podSubnet: POD_SUBNET, serviceSubnet: SERVICE_SUBNET },
  }
}

function nodeConfigurations({ cluster, node, address, controlPlane, endpoint, token }: NodeConfig): object[] {
  const local = { advertiseAddress: address, bindPort: API_PORT }
  const nodeRegistration = {
    criSocket: 'unix:///run/containerd/containerd.sock',
    kubeletExtraArgs: [
      { name: 'node-ip', value: address },
      { name: 'provider-id', value: `kind://docker/${cluster}/${node}` },
    ],
  }
  // The images are in the node, and the checks expect a machine, not a container.
  const skipPhases = ['preflight']
  return [
    {
      apiVersion: KUBEADM,
      kind: 'InitConfiguration',
      bootstrapTokens: [{ token }],
      localAPIEndpoint: local,
      nodeRegistration,
      skipPhases,
    },
    {
      apiVersion: KUBEADM,
      kind: 'JoinConfiguration',
      ...(controlPlane ? { controlPlane: { localAPIEndpoint: local } } : {}),
      nodeRegistration,
      discovery: { bootstrapToken: { apiServerEndpoint: endpoint, token, unsafeSkipCAVerification: true } },
      skipPhases,
    },
  ]
}

function kubeletConfiguration(): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    cgroupDriver: 'systemd',
    cgroupRoot: '/kubelet',
    failSwapOn: false,
    // It reads the disk of the machine, which it shares.
    imageGCHighThresholdPercent: 100,
    evictionHard: { 'nodefs.available': '0%', 'nodefs.inodesFree': '0%', 'imagefs.available': '0%' },
  }
}
