// Agents and clients of the official A2A SDK on both sides of the gateway: versions 0.3 and 1.0, JSON-RPC and REST.
// @module-tag full
import { createServer, type RequestListener, type Server } from 'node:http'
import { createRequire } from 'node:module'
import { A2A_VERSION_HEADER, AGENT_CARD_PATH, type AgentCard, type Part, Role, TaskState } from '@a2a-js/sdk'
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client'
import { AgentEvent, type AgentExecutor, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server'
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeServer, listening } from '#test/ports.ts'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'

interface ExpressApp extends RequestListener {
  use(path: string, handler: unknown): void
}

// The SDK requires it as a peer; it has no types of its own.
const express = createRequire(import.meta.url)('express') as () => ExpressApp

const VARIANTS = [
  ['1.0', 'JSONRPC'],
  ['1.0', 'HTTP+JSON'],
  ['0.3', 'JSONRPC'],
  ['0.3', 'HTTP+JSON'],
] as const

const servers: Server[] = []
let gateway: TestProxy

const nameOf = (index: number): string => `agent-${index}`
const textPart = (value: string): Part => ({
  content: { $case: 'text', value },
  metadata: undefined,
  filename: '',
  mediaType: 'text/plain',
})

const statusOf = (state: TaskState) => ({ state, message: undefined, timestamp: '2026-01-01T00:00:00Z' })
/** Message of a task that ends when a client cancels it. */
const WAIT = 'wait'
/** By task. */
const canceled = new Map<string, PromiseWithResolvers<void>>()
const contexts = new Map<string, string>()

/** Answers with the text that it got, in a task with one artifact. */
const echo: AgentExecutor = {
  execute({ taskId, contextId, userMessage }, bus) {
    const working = statusOf(TaskState.TASK_STATE_WORKING)
    bus.publish(
      AgentEvent.task({ id: taskId, contextId, status: working, artifacts: [], history: [], metadata: undefined }),
    )
    if (userMessage.parts.some(({ content }) => content?.$case === 'text' && content.value === WAIT)) {
      contexts.set(taskId, contextId)
      const waiting = Promise.withResolvers<void>()
      canceled.set(taskId, waiting)
      return waiting.promise
    }
    const artifact = { artifactId: 'echo', name: 'echo', description: '', metadata: undefined, extensions: [] }
    bus.publish(
      AgentEvent.artifactUpdate({
        taskId,
        contextId,
        artifact: { ...artifact, parts: userMessage.parts },
        append: false,
        lastChunk: true,
        metadata: undefined,
      }),
    )
    const completed = statusOf(TaskState.TASK_STATE_COMPLETED)
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: completed, metadata: undefined }))
    bus.finished()
    return Promise.resolve()
  },
  cancelTask(taskId, bus) {
    const contextId = contexts.get(taskId) ?? ''
    const status = statusOf(TaskState.TASK_STATE_CANCELED)
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: undefined }))
    bus.finished()
    canceled.get(taskId)?.resolve()
    return Promise.resolve()
  },
}

async function startAgent(index: number, [protocolVersion, protocolBinding]: (typeof VARIANTS)[number]) {
  const app = express()
  const server = createServer(app)
  servers.push(server)
  const port = await listening(server)
  const base = `/${nameOf(index)}`
  const card: AgentCard = {
    name: 'echo',
    description: 'echoes',
    version: '1',
    provider: undefined,
    supportedInterfaces: [
      { url: `http://127.0.0.1:${port}${base}/endpoint`, protocolBinding, protocolVersion, tenant: '' },
    ],
    capabilities: { streaming: true, pushNotifications: false, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
    signatures: [],
  }
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), echo)
  const legacyCompat = { enabled: protocolVersion === '0.3' }
  const userBuilder = UserBuilder.noAuthentication
  app.use(`${base}/${AGENT_CARD_PATH}`, agentCardHandler({ agentCardProvider: requestHandler, legacyCompat }))
  const handler = protocolBinding === 'JSONRPC' ? jsonRpcHandler : restHandler
  app.use(`${base}/endpoint`, handler({ requestHandler, userBuilder, legacyCompat }))
  return port
}

beforeAll(async () => {
  const ports = await Promise.all(VARIANTS.map((variant, index) => startAgent(index, variant)))
  gateway = await testProxy({
    routes: ports.map((port, index) => ({
      name: nameOf(index),
      prefix: `/${nameOf(index)}`,
      backend: { static: { host: '127.0.0.1', port }, a2a: true },
    })),
  })
})

afterAll(async () => {
  await gateway.stop()
  for (const server of servers) closeServer(server)
})

const sent = (text: string) => ({
  tenant: '',
  configuration: undefined,
  metadata: undefined,
  message: {
    messageId: 'm',
    contextId: '',
    taskId: '',
    role: Role.ROLE_USER,
    parts: [textPart(text)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  },
})

describe.each(VARIANTS.map(([version, binding], index) => [version, binding, index] as const))(
  'an agent of A2A %s over %s',
  (version, binding, index) => {
    const clientOf = () => {
      const legacyCompat = { enabled: version === '0.3' }
      const factory = new ClientFactory({
        transports: [new JsonRpcTransportFactory({ legacyCompat }), new RestTransportFactory({ legacyCompat })],
        preferredTransports: [binding],
        cardResolver: new DefaultAgentCardResolver({ legacyCompat }),
      })
      return factory.createFromUrl(`${gateway.url}/${nameOf(index)}/`)
    }

    it('has a card with the addresses of the gateway', async () => {
      const response = await fetch(`${gateway.url}/${nameOf(index)}/${AGENT_CARD_PATH}`, {
        headers: { [A2A_VERSION_HEADER]: version },
      })
      const text = await response.text()
      expect(text).toContain(`${gateway.url}/${nameOf(index)}/endpoint`)
      expect(text.match(/127\.0\.0\.1:\d+/g)?.filter((host) => !gateway.url.endsWith(host))).toEqual([])
    })

    it('answers a message with a task, which the client reads again', async () => {
      const client = await clientOf()
      const task = await client.sendMessage(sent('hello'))
      expect(task).toMatchObject({
        status: { state: TaskState.TASK_STATE_COMPLETED },
        artifacts: [{ parts: [{ content: { $case: 'text', value: 'hello' } }] }],
      })
      const id = 'id' in task ? task.id : ''
      expect(await client.getTask({ tenant: '', id })).toMatchObject({ id, artifacts: [{ artifactId: 'echo' }] })
      await expect(client.getTask({ tenant: '', id: 'none' })).rejects.toThrow(/not found/i)
    })

    it('streams its events', async () => {
      const client = await clientOf()
      const kinds: unknown[] = []
      for await (const { payload } of client.sendMessageStream(sent('stream'))) kinds.push(payload?.$case)
      expect(kinds).toEqual(['task', 'artifactUpdate', 'statusUpdate'])
    })

    it('streams a task to a client that subscribes again, until it is canceled', async () => {
      const client = await clientOf()
      const stream = client.sendMessageStream(sent(WAIT))
      const first = (await stream.next()).value?.payload
      const id = first?.$case === 'task' ? first.value.id : ''
      const again = client.resubscribeTask({ tenant: '', id })
      expect((await again.next()).value?.payload).toMatchObject({ $case: 'task', value: { id } })
      const ended = { status: { state: TaskState.TASK_STATE_CANCELED } }
      expect(await client.cancelTask({ tenant: '', id, metadata: undefined })).toMatchObject(ended)
      for (const events of [stream, again]) {
        expect((await events.next()).value?.payload).toMatchObject({ $case: 'statusUpdate', value: ended })
        expect(await events.next()).toMatchObject({ done: true })
      }
    })
  },
)
