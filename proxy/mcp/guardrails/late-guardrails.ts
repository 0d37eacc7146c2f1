// Guardrails of MCP, loaded with the first configuration that has one.
import { LatePart } from '#api/late-part.ts'

export const MCP_GUARDRAILS = new LatePart('guardrails of MCP', () => import('./guardrails.ts'))
