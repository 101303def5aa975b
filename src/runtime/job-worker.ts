import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { BackOffices } from '../backoffice/back-offices.ts'
import type { Config } from '../config/config.ts'
import type { Worker } from '../jobs/worker.ts'
import type { Installation } from './installation/installation.ts'
import type { Shard, Shards } from './shards/shards.ts'

interface Doing {
  installation: Pick<Installation, 'db' | 'keys'>
  offices: BackOffices
  databases: Shards
  log: Logger
}

/** Milliseconds between two looks at which data databases there are. */
const lookMs = 2_000

/** Does the jobs of all databases, each in a loop of its own: one that is away keeps nobody else's waiting. */
export async function startJobs(config: Config, { installation, offices, databases, log }: Doing): Promise<Worker> {
  const [{ startWorker }, { postOf }, tableOf] = await Promise.all([
    import('../jobs/worker.ts'),
    import('../mail/transport.ts'),
    tables(config, databases),
  ])
  const { keys } = installation
  const post = postOf(config)
  const control = startWorker({ db: installation.db, keys, log, post }, tableOf(offices, 'control'))
  const others = new Map<string, { at: Shard; worker: Worker }>()
  const stopping = new AbortController()

  async function follow(name: string) {
    const at = await databases.open(name)
    const known = others.get(name)
    if (known?.at === at || stopping.signal.aborted) return
    const tools = { db: at.db, keys, post, log: log.child({ database: name }) }
    others.set(name, { at, worker: startWorker(tools, tableOf(at.offices, 'data')) })
    await known?.worker.stop(0)
  }

  async function look() {
    while (!stopping.signal.aborted) {
      const names = await databases.names().catch(() => undefined)
      // One that is away is looked for again.
      await Promise.all(names?.map(name => follow(name).catch(() => {})) ?? [])
      for (const [name, { worker }] of others)
        if (names && !names.includes(name)) {
          others.delete(name)
          await worker.stop(0)
        }
      await delay(lookMs, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }
  const looking = look()
  return {
    async stop(graceMs) {
      stopping.abort()
      await Promise.race([looking, delay(1_000, undefined, { ref: false })])
      await Promise.all([control, ...[...others.values()].map(({ worker }) => worker)].map(each => each.stop(graceMs)))
    },
  }
}

/** Asks for the jobs of set times, and does none of them: by their age it is seen that nobody does. */
export async function addJobs(config: Config, { installation, offices, databases }: Omit<Doing, 'log'>) {
  const [{ addScheduledJobs }, tableOf] = await Promise.all([import('../jobs/worker.ts'), tables(config, databases)])
  await addScheduledJobs(installation.db, tableOf(offices, 'control'))
  const asked = (await databases.names()).map(async name => {
    const at = await databases.open(name)
    await addScheduledJobs(at.db, tableOf(at.offices, 'data'))
  })
  await Promise.all(asked)
}

/** The jobs of a database, by whether it is the control database. */
async function tables({ webhookNetworks }: Config, databases: Shards) {
  const [{ jobs, backOfficeJobs, webhookJobs, shardJobs }, { senderWithin }, { writesOf }, { resources }] =
    await Promise.all([
      import('../jobs/jobs.ts'),
      import('../webhooks/sender.ts'),
      import('../http/routing/recover-writes.ts'),
      import('../resources/resources.ts'),
    ])
  const writes = writesOf(resources)
  return (offices: BackOffices, of: 'control' | 'data') => ({
    ...jobs,
    ...backOfficeJobs(offices, writes),
    ...webhookJobs(senderWithin(webhookNetworks)),
    ...(of === 'control' && shardJobs(databases.open)),
  })
}
