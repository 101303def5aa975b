import { t } from '../../lib/text.js'

/** The import types in groups, with their titles. A type without a group is in the last one. @type {[group: string, types: [type: string, title: string][]][]} */
const groups = [
  [
    t('Catalogue and stock'),
    [
      ['stores', t('Stores')],
      ['products', t('Products and SKUs')],
      ['stock', t('Stock levels')],
      ['staff', t('Staff')],
      ['references', t('Reference values')],
    ],
  ],
  [t('Customers'), [['customers', t('Customers')]]],
  [
    t('Sales and orders'),
    [
      ['transactions', t('Sales')],
      ['orders', t('Orders of an earlier system')],
      ['payment-gateways', t('Payment gateways')],
      ['vouchers', t('Gift vouchers')],
    ],
  ],
  [
    t('Loyalty'),
    [
      ['reward-programs', t('Reward programs')],
      ['reward-gifts', t('Reward gifts')],
      ['reward-accounts', t('Reward accounts')],
      ['reward-lots', t('Points, rewards and gifts')],
    ],
  ],
  [
    t('E-commerce'),
    [
      ['store-mapping', t('Mapping of stores')],
      ['sku-mapping', t('Mapping of SKUs')],
      ['customer-mapping', t('Mapping of customers')],
      ['ecommerce-locations', t('Locations of the platform')],
      ['ecommerce-variants', t('Variants of the platform')],
      ['ecommerce-customers', t('Customers of the platform')],
    ],
  ],
]

/** Returns the groups with the titles of these types. @param {string[]} types @returns {[group: string, types: [type: string, title: string][]][]} */
export function groupTypes(types) {
  const grouped = new Set(groups.flatMap(([, members]) => members.map(([type]) => type)))
  /** @type {[string, [string, string][]][]} */
  const allGroups = [...groups, [t('More'), types.filter(type => !grouped.has(type)).map(type => [type, type])]]
  return allGroups
    .map(
      ([group, members]) =>
        /** @type {[string, [string, string][]]} */ ([group, members.filter(([type]) => types.includes(type))]),
    )
    .filter(([, members]) => members.length > 0)
}

/** Returns the title of a type, or its name if it has none. @param {string} type */
export const nameType = type => groups.flatMap(([, members]) => members).find(([name]) => name === type)?.[1] ?? type
