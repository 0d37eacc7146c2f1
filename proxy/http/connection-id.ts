// Numbers of connections: those of every protocol are numbered together, in each worker.
let connectionIds = 0

export function nextConnectionId(): number {
  return ++connectionIds
}
