import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { applyChange, type Change } from './control/changes.ts'
import { handleControl } from './control/control.ts'
import type { Simulator } from './control/handle.ts'
import { createApiFaults } from './faults/faults.ts'
import { makeShop, type Size, type SizeName, sizes } from './generate/shop.ts'
import { createApiServer } from './serve/server.ts'
import { makeClock } from './shop/clock.ts'
import { randomFor } from './shop/random.ts'
import { type Call, makeLedger } from './world/ledger.ts'
import { changeSettings, defaultSettings, type Settings } from './world/settings.ts'
import type { World } from './world/world.ts'

export interface SimulatorOptions {
  /** Default: a free port. */
  port?: number
  /** Default: this machine only. */
  host?: string
  release?: string
  seed?: string
  size?: SizeName
  /** Sizes that override those of `size`. */
  sizes?: Partial<Size>
  /** The start of its clock, such as `2026-02-03T10:00:00Z`. Default: now. */
  now?: string
  settings?: Partial<Settings>
  /** A key and its certificate in PEM, for HTTPS. The certificate can be expired or foreign. */
  tls?: { key: string; cert: string }
}

async function listen(server: Server, port: number, host: string): Promise<number> {
  server.listen(port, host)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Returns the set of open connections. It includes connections in the TLS handshake, which an HTTP server doesn't track. */
function trackConnections(server: Server): Set<Socket> {
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return open
}

async function closeServer(server: Server, connections: Iterable<Socket>): Promise<void> {
  if (!server.listening) return
  const done = once(server, 'close')
  server.close()
  for (const socket of connections) socket.destroy()
  await done
}

/** Returns the sizes of a shop. If `styles` is set, the number of SKUs follows from it. */
function resolveSize({ size = 'small', sizes: own = {} }: SimulatorOptions): Size {
  const { skus, ...usual }: Size = sizes[size]
  return { ...usual, ...(skus !== undefined && own.styles === undefined && { skus }), ...own }
}

/** Starts a simulator. Resolves when it accepts requests. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { host = '127.0.0.1', now, release } = options
  const settings = structuredClone(defaultSettings)
  changeSettings(settings, { ...options.settings, ...(release !== undefined && { release }) })
  const clock = makeClock(() => settings.zone, now)
  const ledger = makeLedger()
  const stopping = new AbortController()
  let seed = options.seed ?? '1'
  let shop = makeShop(seed, resolveSize(options), clock.wall())
  let random = randomFor(seed, 'running')
  let luck = randomFor(seed, 'faults')
  const faults = createApiFaults(probability => luck.chance(probability))
  let current: Call | undefined
  const world: World = {
    settings,
    clock,
    get shop() {
      return shop
    },
    get random() {
      return random
    },
    recordEffect: (kind, id, facts = {}) => ledger.recordEffect(kind, id, clock.now(), facts, current),
  }

  const server = createApiServer({
    world,
    ledger,
    faults,
    signal: stopping.signal,
    tls: options.tls,
    recordUnder(call, work) {
      current = call
      try {
        return work()
      } finally {
        current = undefined
      }
    },
    changeConcurrently({ change }, path) {
      const number = /\d+/.exec(path)?.[0] ?? ''
      applyChange(world, { id: Number(number), number, ...change } as unknown as Change)
    },
    control: (request, response, body) => handleControl(simulator, world, request, response, body),
  })
  const connections = trackConnections(server)
  const port = await listen(server, options.port ?? 0, host)
  const origin = `${options.tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`

  const simulator: Simulator = {
    get url() {
      return `${origin}${settings.base}/`
    },
    controlUrl: `${origin}/_simulator`,
    get state() {
      return shop
    },
    settings,
    ledger,
    faults,
    clock,
    set: changes => changeSettings(settings, changes),
    change: change => applyChange(world, change),
    async stopAccepting(seconds) {
      await closeServer(server, connections)
      if (seconds === undefined) return
      // The pending timer keeps the process alive.
      const over = delay(seconds * 1_000, undefined, { signal: stopping.signal })
      over.then(simulator.accept).catch(() => {})
    },
    async accept() {
      if (!server.listening && !stopping.signal.aborted) await listen(server, port, host)
    },
    reset(otherSeed = seed) {
      seed = otherSeed
      clock.reset()
      if (now !== undefined) clock.set(now)
      faults.clear()
      ledger.clear()
      shop = makeShop(seed, resolveSize(options), clock.wall())
      random = randomFor(seed, 'running')
      luck = randomFor(seed, 'faults')
    },
    async close() {
      stopping.abort()
      await closeServer(server, connections)
    },
  }
  return simulator
}
