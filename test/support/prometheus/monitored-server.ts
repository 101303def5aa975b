import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startSimulator } from '../../../simulator/simulator.ts'
import { deriveKeys, type Keys } from '../../../src/crypto/keys.ts'
import { type Database, openDatabase } from '../../../src/database/db.ts'
import type { Service } from '../../../src/domain/tenancy/service-settings.ts'
import { raiseAlert } from '../../../src/store/alerts/alerts.ts'
import { queueVoucherEmail } from '../../../src/store/mail/emails.ts'
import { addService } from '../../../src/store/tenancy/services.ts'
import { startCollector } from '../collector.ts'
import { giftEmail } from '../mailing.ts'
import { createDirectory, type Environment, pickPort, readAccess, serve, stopServer, waitUntil } from '../processes.ts'

export const timeoutMs = 120_000

/** Starts a server that exposes every metric: completed syncs, an email, an alert, traces. `close` stops everything. */
export async function startMonitoredServer(overrides: Environment = {}) {
  const closers: (() => unknown)[] = []
  const close = async () => {
    for (const end of closers.splice(0).reverse()) await end()
  }
  const simulator = await startSimulator({ sizes: { persons: 3 } })
  const collector = await startCollector()
  closers.push(simulator.close, collector.close)
  const metricsPort = pickPort()
  const dataDir = join(createDirectory(), 'data')
  const environment = {
    DATA_DIR: dataDir,
    METRICS_PORT: metricsPort,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_LOGS_EXPORTER: 'otlp',
    BACK_OFFICE: 'apparel21',
    BACK_OFFICE_URL: simulator.url,
    BACK_OFFICE_COUNTRY: 'AU',
    BACK_OFFICE_TIME_ZONE: 'Australia/Melbourne',
    LOG_LEVEL: 'silent',
    ...overrides,
  }
  const readMetrics = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  try {
    // The first start creates a service and syncs it with its back office.
    const server = await serve([], environment)
    closers.push(() => stopServer(server))
    const db = openDatabase(JSON.parse(readFileSync(join(dataDir, 'database.json'), 'utf8')), { onFault: () => {} })
    closers.push(() => db.close())
    const keys = deriveKeys(readFileSync(join(dataDir, 'secret'), 'utf8').trim())
    const other = await addService(db, 'other')
    if (!other) throw new Error('the service already exists')
    await sendGift(db, keys, other)
    await raiseAlert(db, other.id, { kind: 'sync_failing', subject: 'stock', detail: 'for the dashboard' })
    await waitUntil(
      async () => /tillbridge_sync_lag_seconds\{/.test(await readMetrics()),
      'a sync completes',
      timeoutMs,
    )
    return {
      server,
      access: readAccess(dataDir),
      db,
      simulator,
      /** The target for a Prometheus scrape. */
      metrics: `127.0.0.1:${metricsPort}`,
      readMetrics,
      /** Sends another email. */
      sendGift: () => sendGift(db, keys, other),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

export type MonitoredServer = Awaited<ReturnType<typeof startMonitoredServer>>

const sendGift = (db: Database, keys: Keys, service: Service) =>
  db.transaction(tx => queueVoucherEmail(tx, keys, service, giftEmail))
