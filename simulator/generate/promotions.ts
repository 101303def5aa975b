import type { FreightOption, Promotion } from '../shop/records.ts'

/** Promotions that apply to a cart automatically. */
export const makePromotions = (): Map<number, Promotion> =>
  new Map([[1_080, { id: 1_080, name: 'Buy 3, 10% off', minimum: 3, percentage: 10 }]])

const carrier = { id: 18_936, code: 'AUS', text: 'Australia Post', url: 'https://auspost.example/track' }

/** The active web freight options. */
export const makeFreightOptions = (): Map<number, FreightOption> => {
  const options: FreightOption[] = [
    {
      id: 161,
      name: 'Express',
      value: 15,
      carrier,
      serviceType: { id: 18_935, code: '50X1', text: 'eParcel Express' },
      sla: { id: 19_254, code: 'Express', text: 'Express' },
    },
    {
      id: 162,
      name: 'Standard',
      value: 9.95,
      carrier,
      serviceType: { id: 18_934, code: '50S1', text: 'eParcel Standard' },
      sla: { id: 19_252, code: 'Std', text: 'Standard' },
    },
  ]
  return new Map(options.map(option => [option.id, option]))
}
