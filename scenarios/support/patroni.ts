/**
 * Runs Debian's Patroni with three members of etcd and two PostgreSQL on this machine.
 * A node is a Patroni process and its PostgreSQL; it is killed, frozen and started again as one, like a machine.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { listChildPids } from './children.ts'
import { createHome, debianPostgresMissing, findDebianPrograms } from './debian-postgres.ts'
import { findFreePort } from './free-port.ts'

const [patroni, etcd] = ['/usr/bin/patroni', '/usr/bin/etcd']

/** Why a test is skipped if the packages are missing; otherwise undefined. */
export const patroniMissing =
  debianPostgresMissing ??
  (existsSync(patroni) && existsSync(etcd)
    ? undefined
    : `${patroni} or ${etcd} is missing: apt-get install patroni etcd-server`)

const isRoot = process.geteuid?.() === 0

/** Starts a program in the background, as the user postgres if this process is root. */
function startProgram(command: readonly string[], log: string, cwd: string): ChildProcess {
  const prefix = isRoot ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--init-groups', '--'] : []
  const [program = '', ...args] = [...prefix, ...command]
  const output = openSync(log, 'a', 0o644)
  return spawn(program, args, { cwd, stdio: ['ignore', output, output] })
}

/** Resolves when `condition` holds. Throws after `timeoutMs`. */
async function waitUntil(condition: () => Promise<boolean>, event: string, timeoutMs = 120_000) {
  for (const startedAt = performance.now(); !(await condition().catch(() => false)); await delay(200))
    if (performance.now() - startedAt > timeoutMs)
      throw new Error(`${event} did not happen within ${timeoutMs / 1_000} s`)
}

/** Sends a signal to a child process, and waits until it ends. */
async function stopProcess(child: ChildProcess, signal: NodeJS.Signals) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill(signal)
  await ended
}

/** Sends a signal to processes. Ignores those that have ended. */
function sendSignals(pids: readonly number[], signal: NodeJS.Signals) {
  for (const pid of pids)
    try {
      process.kill(pid, signal)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
}

interface EtcdMember {
  name: string
  clientPort: number
  process: ChildProcess
}

async function startEtcd(home: string): Promise<EtcdMember[]> {
  const ports = await Promise.all(
    Array.from({ length: 3 }, async () => [await findFreePort(), await findFreePort()] as const),
  )
  const cluster = ports.map(([peer], i) => `etcd-${i}=http://127.0.0.1:${peer}`).join(',')
  return ports.map(([peer, clientPort], i) => {
    const name = `etcd-${i}`
    const [peerUrl, clientUrl] = [`http://127.0.0.1:${peer}`, `http://127.0.0.1:${clientPort}`]
    const command = [
      ...[etcd, '--name', name, '--data-dir', join(home, name), '--unsafe-no-fsync'],
      ...['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
      ...['--listen-client-urls', clientUrl, '--advertise-client-urls', clientUrl],
      ...['--initial-cluster', cluster, '--initial-cluster-state', 'new'],
    ]
    return { name, clientPort, process: startProgram(command, join(home, `${name}.log`), home) }
  })
}

interface EtcdStatus {
  header: { member_id: string }
  leader?: string
}

async function findEtcdLeader(members: readonly EtcdMember[]): Promise<EtcdMember | undefined> {
  for (const member of members) {
    const response = await fetch(`http://127.0.0.1:${member.clientPort}/v3/maintenance/status`, {
      method: 'POST',
      body: '{}',
      signal: AbortSignal.timeout(2_000),
    }).catch(() => undefined)
    const status = (await response?.json().catch(() => undefined)) as EtcdStatus | undefined
    if (status?.leader && status.leader === status.header.member_id) return member
  }
}

/** A machine with Patroni and PostgreSQL. */
export interface PatroniNode {
  name: string
  port: number
  /** Kills Patroni and PostgreSQL (kill -9). */
  kill(): Promise<void>
  /** Starts Patroni again, which starts PostgreSQL. */
  start(): void
  /** Stops all processes (SIGSTOP). Returns a function that lets them continue. */
  freeze(): () => void
  /** True if Patroni reports this node as the primary. */
  isPrimary(): Promise<boolean>
  /** True if it is a standby that receives WAL, and is synchronous if the cluster is. */
  isStandby(): Promise<boolean>
}

export interface PatroniCluster {
  nodes: readonly PatroniNode[]
  /** Names both servers. */
  url: string
  /** Resolves with the primary and its standby once both are there. */
  waitUntilHealthy(): Promise<{ primary: PatroniNode; standby: PatroniNode }>
  /** Kills the leader of etcd (kill -9). Two of three members remain. */
  killEtcdLeader(): Promise<void>
  switchover(from: PatroniNode, to: PatroniNode): Promise<void>
  close(): Promise<void>
}

interface ClusterOptions {
  home: string
  isSynchronous: boolean
}

export async function startPatroni({ home, isSynchronous }: ClusterOptions): Promise<PatroniCluster> {
  createHome(home)
  const members = await startEtcd(home)
  const hosts = members.map(({ clientPort }) => `127.0.0.1:${clientPort}`)
  const nodes = await Promise.all(['one', 'two'].map(name => createNode(name)))

  async function createNode(name: string) {
    const directory = join(home, name)
    createHome(directory)
    const [port, apiPort] = [await findFreePort(), await findFreePort()]
    const data = join(directory, 'data')
    const trust = ['local all all trust', 'host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust']
    const settings = {
      scope: 'tillbridge',
      name,
      restapi: { listen: `127.0.0.1:${apiPort}`, connect_address: `127.0.0.1:${apiPort}` },
      etcd3: { hosts },
      bootstrap: {
        dcs: {
          // The shortest time to live that Patroni accepts.
          ttl: 20,
          loop_wait: 2,
          retry_timeout: 5,
          maximum_lag_on_failover: 100_000_000,
          synchronous_mode: isSynchronous,
          postgresql: { use_pg_rewind: true, parameters: { max_connections: 60, wal_keep_size: '256MB' } },
        },
        initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
      },
      postgresql: {
        listen: `127.0.0.1:${port}`,
        connect_address: `127.0.0.1:${port}`,
        data_dir: data,
        bin_dir: findDebianPrograms(),
        pgpass: join(directory, 'pgpass'),
        pg_hba: trust,
        authentication: {
          superuser: { username: 'tillbridge', password: 'trusted' },
          replication: { username: 'replicator', password: 'trusted' },
        },
        parameters: { unix_socket_directories: directory },
      },
    }
    const file = join(directory, 'patroni.yml')
    // JSON is YAML.
    writeFileSync(file, JSON.stringify(settings))
    chmodSync(file, 0o644)
    let child: ChildProcess
    const findPostgres = () => {
      const pidFile = join(data, 'postmaster.pid')
      if (!existsSync(pidFile)) return []
      const pid = Number.parseInt(readFileSync(pidFile, 'utf8'), 10)
      return existsSync(`/proc/${pid}`) ? [pid, ...listChildPids(pid)] : []
    }
    const query = (path: string) => fetch(`http://127.0.0.1:${apiPort}/${path}`, { signal: AbortSignal.timeout(2_000) })
    const node = {
      name,
      port,
      apiPort,
      start() {
        child = startProgram(['/usr/bin/python3', patroni, file], join(directory, 'log'), directory)
      },
      async kill() {
        const processes = findPostgres()
        const ended = stopProcess(child, 'SIGKILL')
        sendSignals(processes, 'SIGKILL')
        await ended
      },
      freeze() {
        const processes = [Number(child.pid), ...findPostgres()]
        sendSignals(processes, 'SIGSTOP')
        return () => sendSignals(processes.toReversed(), 'SIGCONT')
      },
      stop: () => stopProcess(child, 'SIGTERM'),
      isPrimary: async () => (await query('primary')).status === 200,
      isStandby: async () => (await query(isSynchronous ? 'synchronous' : 'replica?lag=1MB')).status === 200,
    }
    return node
  }

  const waitUntilHealthy = async () => {
    let healthyNodes: { primary: PatroniNode; standby: PatroniNode } | undefined
    const isHealthy = async () => {
      const primary = (await Promise.all(nodes.map(node => node.isPrimary()))).indexOf(true)
      const [primaryNode, standbyNode] = [nodes[primary], nodes[1 - primary]]
      if (!primaryNode || !standbyNode || !(await standbyNode.isStandby())) return false
      healthyNodes = { primary: primaryNode, standby: standbyNode }
      return true
    }
    await waitUntil(isHealthy, 'a primary and its standby')
    if (!healthyNodes) throw new Error('a cluster without a primary is not healthy')
    return healthyNodes
  }

  const close = async () => {
    await Promise.all(nodes.map(node => node.stop()))
    await Promise.all(members.map(member => stopProcess(member.process, 'SIGKILL')))
  }
  try {
    await waitUntil(async () => (await findEtcdLeader(members)) !== undefined, 'the election of a leader of etcd')
    // The first one creates the database.
    nodes[0]?.start()
    await waitUntil(async () => (await nodes[0]?.isPrimary()) ?? false, 'the first primary')
    nodes[1]?.start()
    await waitUntilHealthy()
  } catch (error) {
    const logs = nodes.map(({ name }) => readFileSync(join(home, name, 'log'), 'utf8').slice(-3_000))
    await close()
    throw new Error(`Patroni does not start: ${logs.join('\n')}`, { cause: error })
  }

  return {
    nodes,
    url: `postgres://tillbridge@${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}/postgres`,
    waitUntilHealthy,
    async killEtcdLeader() {
      const leader = await findEtcdLeader(members)
      if (!leader) throw new Error('etcd has no leader')
      await stopProcess(leader.process, 'SIGKILL')
    },
    async switchover(from, to) {
      const { apiPort } = nodes.find(({ name }) => name === from.name) ?? {}
      const response = await fetch(`http://127.0.0.1:${apiPort}/switchover`, {
        method: 'POST',
        body: JSON.stringify({ leader: from.name, candidate: to.name }),
      })
      if (!response.ok) throw new Error(`switchover: ${response.status} ${await response.text()}`)
    },
    close,
  }
}
