import type { Logger } from 'pino'
import { type BackOffices, openBackOffices } from '../backoffice/back-offices.ts'
import { memoize } from '../concurrency/ttl-cache.ts'
import { type Config, getBackOfficeSettings } from '../config/config.ts'
import type { Keys } from '../crypto/keys.ts'
import type { Database } from '../database/db.ts'
import type { MailTransport } from '../mail/transport.ts'
import { createSender, type Sender } from '../webhooks/sender.ts'
import type { OpenedDatabase } from './installation/connect.ts'
import { type Installation, joinInstallation, openInstallation } from './installation/installation.ts'
import { createShards, type Shards } from './shards/shards.ts'

/**
 * The composition root: everything that a process opens, opened once and closed together. Other modules receive what they need and open
 * nothing. HTTP, jobs and commands build their own contexts from it.
 */
export interface App {
  config: Config
  log: Logger
  /** The control database, its replicas and connection pools, and the keys. */
  installation: Installation
  /** The back offices of the services in the control database. */
  backOffices: BackOffices
  /** The shards, each opened on first use. */
  shards: Shards
  /** Sends webhook requests to allowed addresses. */
  webhookSender: Sender
  /** Returns the mail transport. It is loaded on first use, because most processes send no email. */
  mail(): Promise<MailTransport>
  /** Closes everything. Stop serving and running jobs first. */
  close(): Promise<void>
}

interface OpenOptions {
  /**
   * True for the process that runs the installation: it starts the bundled PostgreSQL and migrates an older version. Other processes join
   * a running installation. Default false.
   */
  isOwner?: boolean
}

/** Opens the installation that the configuration names. Throws, with a remedy, if it can't be used. */
export async function openApp(config: Config, log: Logger, { isOwner = false }: OpenOptions = {}): Promise<App> {
  const open = isOwner ? openInstallation : joinInstallation
  const installation = await open(config, { onNotice: notice => log.warn(notice), replicas: true })
  try {
    return await composeApp(config, log, installation)
  } catch (error) {
    await installation.close()
    throw error
  }
}

/** Opens the back offices of the services in one database. The caller closes them. */
export const openConfiguredBackOffices = (
  config: Config,
  keys: Keys,
  db: Database,
  log: Logger,
): Promise<BackOffices> => openBackOffices({ db, keys, defaults: getBackOfficeSettings(config), log })

/** Creates the sender of webhook requests, for the addresses that the configuration allows. */
export const openWebhookSender = (config: Config): Sender => createSender(config.webhookNetworks)

/** Composes an app on an installation that is open, such as a test's database. `close` also closes the installation. */
export async function composeApp(config: Config, log: Logger, installation: Installation): Promise<App> {
  const { db, keys } = installation
  const openOn = (database: OpenedDatabase, ownLog: Logger) =>
    openConfiguredBackOffices(config, keys, database.db, ownLog)
  const backOffices = await openOn(installation, log)
  const shards = createShards(config, { db, keys }, openOn, log)
  return {
    config,
    log,
    installation,
    backOffices,
    shards,
    webhookSender: openWebhookSender(config),
    mail: memoize(async () => (await import('../mail/transport.ts')).openMailTransport(config)),
    async close() {
      backOffices.close()
      await shards.close()
      await installation.close()
    },
  }
}
