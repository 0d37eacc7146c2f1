// Settings of Azure OpenAI and Azure AI Foundry: by endpoint, or by the name of a resource (resources supplement,
// section 1.7).
import type { AzureProvider } from '#api/ir/types.gen.ts'
import { AZURE_HOSTS } from '#api/llm/azure.ts'
import type { SlotSettings } from '#api/llm/providers.ts'

/** The host in the endpoint of a resource, which may be a URL without a path. */
export function endpointHost(endpoint: string): string {
  return endpoint
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .replace(/\/+$/, '')
    .toLowerCase()
}

export function azureByEndpoint({ endpoint, deploymentName, apiVersion }: SlotSettings<'azure-openai'>): AzureProvider {
  const host = endpointHost(endpoint)
  return {
    host,
    resourceType: host.endsWith(AZURE_HOSTS.Foundry) ? 'Foundry' : 'OpenAI',
    ...(apiVersion !== undefined && { apiVersion }),
    ...(deploymentName !== undefined && { model: deploymentName }),
  }
}

const TYPES = { Type1: 'OpenAI', Type2: 'Foundry' } as const

export function azureByResource(settings: SlotSettings<'azure-foundry'>): AzureProvider {
  const { resourceName, projectName, apiVersion, model } = settings
  const resourceType = TYPES[settings.resourceType]
  return {
    host: resourceName.toLowerCase() + AZURE_HOSTS[resourceType],
    resourceType,
    ...(apiVersion !== undefined && { apiVersion }),
    ...(projectName !== undefined && { project: projectName }),
    ...(model !== undefined && { model }),
  }
}
