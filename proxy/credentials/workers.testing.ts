// Several workers with one main thread, without threads: messages are structured clones that arrive later. For tests;
// not used by the proxy.
import { SharedTokens, type TokenPeer } from './shared-tokens.ts'
import { TokenShare } from './token-share.ts'
import { WorkerTokenStore } from './token-store.ts'

export interface FakeWorker {
  readonly store: WorkerTokenStore
  readonly peer: TokenPeer
}

export function workers(count: number): { main: SharedTokens; all: FakeWorker[] } {
  const main = new SharedTokens()
  const all = Array.from({ length: count }, (): FakeWorker => {
    const share = new TokenShare((message) => {
      const sent = structuredClone(message)
      queueMicrotask(() => main.receive(peer, sent))
    })
    const peer: TokenPeer = {
      post: (reply) => {
        const sent = structuredClone(reply)
        queueMicrotask(() => share.receive(sent))
      },
    }
    main.joined(peer)
    return { store: new WorkerTokenStore({ share }), peer }
  })
  return { main, all }
}
