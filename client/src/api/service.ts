// Generated from the OpenAPI document by `npm run docs`.
import type { CallOptions, Calls, WriteOptions } from '../calls/calls.ts'
import type { Capabilities, Health, Settings, SettingsChange } from '../shapes/service.ts'

/** Capabilities and settings of the service. */
export interface ServiceApi {
  /** Get service health. The current problems of the service, worst first: late or failed syncs, rejected and skipped records, failing webhooks, an open circuit breaker, and alerts. Webhooks are included for admins, alerts for maintainers. */
  health(options?: CallOptions): Promise<Health>
  /** Get capabilities. The version of the back office, the available and unavailable capabilities, and the lag of each sync. */
  capabilities(options?: CallOptions): Promise<Capabilities>
  /** Get settings. The effective value of each setting: the configured value, otherwise the default. */
  settings(options?: CallOptions): Promise<Settings>
  /** Update settings. Keeps settings that the body does not contain. Null resets a setting to its default. A list or an object replaces the previous one. Takes effect in all processes within 5 seconds. If the service has amounts, a change of `currency` needs `confirmCurrencyChange` and returns the warning `amounts_not_converted`. */
  updateSettings(body: SettingsChange, options?: WriteOptions): Promise<Settings>
}

export const service = (call: Calls): ServiceApi => ({
  health: (options) => call.get('/health', {}, options),
  capabilities: (options) => call.get('/capabilities', {}, options),
  settings: (options) => call.get('/settings', {}, options),
  updateSettings: (body, options) => call.put('/settings', body, options),
})
