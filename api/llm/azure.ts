// Hosts of resources of Azure: each is the name of the resource with the end for its type.
import type { AzureProvider } from '../ir/types.gen.ts'

export const AZURE_HOSTS: { readonly [T in AzureProvider['resourceType']]: string } = {
  OpenAI: '.openai.azure.com',
  Foundry: '.services.ai.azure.com',
}
