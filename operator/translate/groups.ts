// API group names that references carry.

export { GROUP as GW_GROUP } from '#api/group.ts'

export const GATEWAY_GROUP = 'gateway.networking.k8s.io'
export const CORE_GROUP = ''
export const INFERENCE_GROUP = 'inference.networking.k8s.io'
export const DISCOVERY_GROUP = 'discovery.k8s.io'
