// Made of the operations of the API by `npm run docs`.
import type { CallOptions, Calls, WriteOptions } from '../calls/calls.ts'
import type { Capabilities, Settings, SettingsChange } from '../shapes/service.ts'

/** Capabilities and settings of the service. */
export interface ServiceApi {
  /** Get capabilities. The back office's release, what works, what does not and why, and how fresh is what is pulled from it. */
  capabilities(options?: CallOptions): Promise<Capabilities>
  /** Get settings. Each with its value in force: what was set, or else its default. */
  settings(options?: CallOptions): Promise<Settings>
  /** Update settings. What is not mentioned stays; null returns a setting to its default. A list, or an object, takes the place of the one before. In force everywhere within 5 seconds. */
  updateSettings(body: SettingsChange, options?: WriteOptions): Promise<Settings>
}

export const service = (call: Calls): ServiceApi => ({
  capabilities: (options) => call.get('/capabilities', {}, options),
  settings: (options) => call.get('/settings', {}, options),
  updateSettings: (body, options) => call.put('/settings', body, options),
})
