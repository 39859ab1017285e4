package main

import (
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// position is what the user of aztables keeps to go on later.
type position struct {
	NextPartitionKey, NextRowKey *string
}

type pageLine struct {
	Rows  []string `json:"rows"`
	Token string   `json:"token,omitempty"`
}

func pageFirst(s *session, tableName string) {
	page := must(pagesFrom(s, tableName, position{}).NextPage(ctx))
	token := must(json.Marshal(position{page.NextPartitionKey, page.NextRowKey}))
	printLine(pageLine{rowsOf(page), string(token)})
}

func pageRest(s *session, tableName, token string) {
	var from position
	check(json.Unmarshal([]byte(token), &from))
	rows := []string{}
	for pager := pagesFrom(s, tableName, from); pager.More(); {
		rows = append(rows, rowsOf(must(pager.NextPage(ctx)))...)
	}
	printLine(pageLine{Rows: rows})
}

func pagesFrom(s *session, tableName string, from position) *runtime.Pager[aztables.ListEntitiesResponse] {
	return s.service.NewClient(tableName).NewListEntitiesPager(&aztables.ListEntitiesOptions{
		Top: to.Ptr(int32(7)), NextPartitionKey: from.NextPartitionKey, NextRowKey: from.NextRowKey,
	})
}

func rowsOf(page aztables.ListEntitiesResponse) []string {
	rows := make([]string, len(page.Entities))
	for i, text := range page.Entities {
		rows[i] = decode(text).RowKey
	}
	return rows
}
