package main

import (
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type properties = map[string]any

// entity is the JSON of an entity, as every method of the client takes it.
func entity(partitionKey, rowKey string, values properties) []byte {
	return must(json.Marshal(aztables.EDMEntity{
		Entity:     aztables.Entity{PartitionKey: partitionKey, RowKey: rowKey},
		Properties: values,
	}))
}

func decode(text []byte) aztables.EDMEntity {
	var decoded aztables.EDMEntity
	check(json.Unmarshal(text, &decoded))
	return decoded
}

func get(table *aztables.Client, partitionKey, rowKey string) aztables.EDMEntity {
	return decode(must(table.GetEntity(ctx, partitionKey, rowKey, nil)).Value)
}

// query reads all pages.
func query(table *aztables.Client, options *aztables.ListEntitiesOptions) []aztables.EDMEntity {
	found := []aztables.EDMEntity{}
	for pager := table.NewListEntitiesPager(options); pager.More(); {
		for _, text := range must(pager.NextPage(ctx)).Entities {
			found = append(found, decode(text))
		}
	}
	return found
}

func rowsWhere(table *aztables.Client, filter string) []string {
	return rowKeys(query(table, &aztables.ListEntitiesOptions{Filter: to.Ptr(filter)}))
}

func rowKeys(entities []aztables.EDMEntity) []string {
	rows := make([]string, len(entities))
	for i, entity := range entities {
		rows[i] = entity.RowKey
	}
	return rows
}
