import { listChanges } from '../domain/audit.ts'
import { embeddedName } from '../domain/tenancy/back-office-settings.ts'
import {
  checkCurrencyChange,
  checkMappedReferences,
  checkSettingsChange,
  type SettingsChange,
  SettingsInput,
  ShownSettings,
} from '../domain/tenancy/settings-rules.ts'
import { Instant, Nullable } from '../domain/values/fields.ts'
import { throwIfAny } from '../errors/throw-if-any.ts'
import { get, put } from '../http/routing/route-definitions.ts'
import { Type } from '../schemas/schemas.ts'
import { findMappedReferences } from '../store/catalog/references.ts'
import { readJobLag } from '../store/jobs/jobs.ts'
import { readSyncStatuses } from '../store/sync/status.ts'
import { changeSettings, findCurrencyEffect, lockSettings, readSettings } from '../store/tenancy/settings.ts'

const SyncSummary = Type.Object(
  {
    sync: Type.String({ description: 'The name of the sync.', examples: ['stock'] }),
    syncedAt: Nullable(Instant('When the sync was last completed. Null if it never was.', '2026-11-21T09:30:04Z')),
    lagSeconds: Nullable(Type.Integer({ description: 'The seconds since then.', examples: [142] })),
    lastResult: Type.Enum(['ok', 'failed', 'running', 'none'], {
      description: 'The result of the last run. `running`: a run is in progress. `none`: no run yet.',
      examples: ['ok'],
    }),
    nextRunAt: Nullable(Instant('The next scheduled run. Null if the sync has no schedule.', '2026-11-21T09:35:01Z')),
  },
  { $id: 'SyncSummary', additionalProperties: false },
)

const Capabilities = Type.Object(
  {
    backOffice: Type.Object(
      {
        driver: Type.String({ description: 'The driver of the back office.', examples: [embeddedName] }),
        release: Type.String({ description: 'The version of the back office.', examples: ['2022.1'] }),
      },
      { $id: 'BackOfficeRelease', additionalProperties: false },
    ),
    capabilities: Type.Array(
      Type.Object(
        {
          name: Type.String({ examples: ['customersUpdatedAfter'] }),
          available: Type.Boolean({ examples: [false] }),
          reason: Type.Optional(
            Type.String({
              description: 'The reason, if it is not available.',
              examples: [
                'GET /customers?updated_after= needs back-office version 2022.1 or later. Version 2021.3 is installed.',
              ],
            }),
          ),
        },
        { $id: 'Capability', additionalProperties: false },
      ),
    ),
    sync: Type.Optional(
      Type.Array(SyncSummary, {
        description: 'The syncs from the back office with their lag. Absent if the back office needs none.',
      }),
    ),
  },
  { $id: 'Capabilities', additionalProperties: false },
)

const noWorker = 'No worker is running, so emails are not sent and nothing is synced from the back office.'

/** Capabilities and settings of the service. */
export const serviceRoutes = [
  get(
    '/capabilities',
    {
      operationId: 'getCapabilities',
      tag: 'Service',
      summary: 'Get capabilities',
      description:
        'The version of the back office, the available and unavailable capabilities, and the lag of each sync.',
      response: Capabilities,
    },
    async ({ backOffice, db, service }) => {
      const { driver, release, capabilities } = await backOffice.capabilities(db)
      const { isIdle } = await readJobLag(db)
      const jobs = isIdle ? { name: 'jobs', available: false, reason: noWorker } : { name: 'jobs', available: true }
      const sync = (await readSyncStatuses(db, service)).map(({ fullOnlyIntervalSeconds: _, ...fact }) => fact)
      return {
        data: { backOffice: { driver, release }, capabilities: [...capabilities, jobs], ...(sync.length && { sync }) },
      }
    },
  ),

  get(
    '/settings',
    {
      operationId: 'getSettings',
      tag: 'Service',
      role: 'admin',
      summary: 'Get settings',
      description: 'The effective value of each setting: the configured value, otherwise the default.',
      response: ShownSettings,
      etag: true,
    },
    async ({ db, service }) => ({ data: await readSettings(db, service) }),
  ),

  put(
    '/settings',
    {
      operationId: 'updateSettings',
      tag: 'Service',
      role: 'admin',
      summary: 'Update settings',
      description:
        'Keeps settings that the body does not contain. Null resets a setting to its default. A list or an object replaces the previous one. Takes effect in all processes within 5 seconds. If the service has amounts, a change of `currency` needs `confirmCurrencyChange` and returns the warning `amounts_not_converted`.',
      body: SettingsInput,
      // Null means the default.
      keepsEmptyTexts: true,
      checkRules: (body, { settings }) => checkSettingsChange(body as SettingsChange, settings),
      response: ShownSettings,
      etag: true,
      warns: true,
      errors: ['precondition_failed', 'precondition_required'],
    },
    ({ service, body, requireMatch }) =>
      async tx => {
        const { confirmCurrencyChange = false, ...change } = body as SettingsInput
        await lockSettings(tx, service)
        const before = await readSettings(tx, service)
        requireMatch(JSON.stringify(before))
        const effect = await findCurrencyEffect(tx, service, before.currency, change)
        throwIfAny([
          ...checkSettingsChange(change, before),
          ...checkCurrencyChange(effect, confirmCurrencyChange, 'Send `confirmCurrencyChange: true` to change it.'),
          ...checkMappedReferences(change, await findMappedReferences(tx, service, change)),
        ])
        await changeSettings(tx, service, change)
        const warnings = effect === undefined ? [] : [{ code: 'amounts_not_converted', detail: effect }]
        const after = await readSettings(tx, service)
        return { data: after, subject: '/settings', changes: listChanges(before, after), warnings }
      },
  ),
]
